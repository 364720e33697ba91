"""The rows of YMJ records: `YM00` sections, `YM01` summary, `YM02` versions, `YM03` hashes, `YM04` footer, `YM05`
payload, `YM06` attachments, `YM07` other records, `YM08` profiles."""

from __future__ import annotations

from prosa.diagnostics import Severity
from prosa.rules.rule import Rule, module_of

_E, _W, _I, _H = Severity.ERROR, Severity.WARNING, Severity.INFO, Severity.HINT


def _read(code: str, name: str, severity: Severity = _E) -> Rule:
    """A rule that the reader, or a rule beside it, reports."""
    return Rule(code, name, severity, severity, ("ymj",))


def _rule(code: str, name: str, severity: Severity, strict: Severity) -> Rule:
    """A rule with a file of its own."""
    return Rule(code, name, severity, strict, ("ymj",), module_of("ymj", name))


RULES: tuple[Rule, ...] = (
    _read("YM001", "missing-header"),
    _read("YM002", "missing-footer"),
    _read("YM003", "footer-syntax"),
    _read("YM004", "text-after-footer"),
    _rule("YM005", "unusual-footer-fence", _W, _E),
    _rule("YM006", "second-header", _W, _E),
    _rule("YM007", "second-footer", _W, _E),
    _rule("YM008", "byte-order-mark-in-record", _W, _W),
    _rule("YM009", "crlf-in-record", _W, _W),
    _rule("YM010", "summary-not-second", _W, _E),
    _rule("YM011", "summary-too-long", _W, _E),
    _rule("YM012", "summary-on-several-lines", _W, _E),
    _rule("YM013", "not-catalog-readable", _W, _E),
    _rule("YM014", "diverging-summary", _W, _W),
    _rule("YM020", "unknown-spec-version", _W, _W),
    _rule("YM021", "confused-versions", _H, _H),
    _rule("YM030", "missing-payload-hash", _W, _E),
    _rule("YM031", "payload-hash-mismatch", _E, _E),
    _rule("YM032", "legacy-hash", _H, _E),
    _rule("YM033", "conflicting-hashes", _E, _E),
    _rule("YM034", "placeholder-hash", _W, _E),
    _rule("YM035", "payload-hash-in-header", _W, _W),
    _rule("YM036", "unverified-signature", _I, _I),
    _rule("YM037", "secret-in-footer", _E, _E),
    _rule("YM040", "identity-mirror", _W, _E),
    _rule("YM041", "deprecated-payload-mime", _W, _W),
    _rule("YM042", "payload-mime-mismatch", _W, _E),
    _rule("YM043", "routes-beside-page", _W, _W),
    _rule("YM044", "impossible-chunk", _W, _E),
    _rule("YM045", "past-expiry", _W, _W),
    Rule("YM046", "unusable-route", _W, _E, ("ymj",), module_of("ymj", "unusable-route"), scope="corpus"),
    _rule("YM050", "unknown-selector", _W, _E),
    _rule("YM051", "bad-selector", _E, _E),
    _rule("YM052", "missing-selector-target", _W, _E),
    _rule("YM053", "pattern-selector", _H, _W),
    _rule("YM054", "costly-selector", _W, _E),
    _rule("YM055", "undecodable-payload", _E, _E),
    _rule("YM060", "attachment-without-uri", _W, _W),
    _rule("YM061", "attachment-hash-in-footer", _W, _W),
    _rule("YM062", "attachment-only-in-footer", _H, _W),
    _rule("YM063", "duplicate-attachment", _W, _W),
    _rule("YM064", "attachment-hash-mismatch", _E, _E),
    _rule("YM065", "missing-attachment", _W, _W),
    _read("YM066", "unverified-attachment", _I),
    Rule("YM070", "unknown-record", _I, _W, ("ymj",), module_of("ymj", "unknown-record"), scope="corpus"),
    _rule("YM080", "profile-gap", _H, _H),
)
