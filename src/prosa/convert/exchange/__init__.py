"""Chats to and from other forms: messages of the OpenAI API, logs of the tool `llm`, YMJ records. Values only."""

from prosa.convert.exchange.imported import ExchangeProblem, Imported, chat_text

__all__ = ["ExchangeProblem", "Imported", "chat_text"]
