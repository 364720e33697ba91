"""Chats: the use case behind `prosa chat` and `prosa.chat`.

In: a chat as a file or a text, and perhaps a message. Out: replies, in the chat where they are to be written. Nothing
here parses arguments or prints.
"""
