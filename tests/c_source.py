# SPDX-License-Identifier: Apache-2.0
"""C sources as tokens, functions and statements, for tcb.py and lint_plain.py.

Knows the C of this tree, before the preprocessor: a function's braces stand in column 0.
"""
import collections
import re

Token = collections.namedtuple("Token", "text line")
# kind: function, variable or macro.  tokens: of a function its body with its braces.
Definition = collections.namedtuple("Definition", "kind name static tokens lines")

TOKEN = re.compile(r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|\\\n)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>[A-Za-z_]\w*
      | \.?\d(?:[eEpP][+-]|[\w.])*
      | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
      | <<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s])
""", re.X | re.S | re.M)
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
STEPS = {"++", "--"}
CLOSING = {"(": ")", "[": "]", "{": "}"}
CONTROL = {"if", "for", "while", "switch", "return", "sizeof", "_Alignof", "__typeof__"}


def tokens_of(text):
    """(tokens, directives): what the compiler sees, and the preprocessor's lines."""
    tokens, directives, line, at = [], [], 1, 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found["text"]:
            tokens.append(Token(found["text"], line))
        elif found["directive"]:
            directives.append(Token(found["directive"], line))
        line += found[0].count("\n")
        at = found.end()
    return tokens, directives


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in CLOSING:
            depth += 1
        elif tokens[i].text in CLOSING.values():
            depth -= 1
            if not depth:
                return i
    raise ValueError(f"line {tokens[at].line}: no end of {tokens[at].text}")


def find(tokens, at, wanted):
    """The first of the wanted tokens from `at` on, not within brackets; or the end."""
    while at < len(tokens):
        if tokens[at].text in wanted:
            return at
        at = closing(tokens, at) + 1 if tokens[at].text in CLOSING else at + 1
    return at


def designator(tokens, at):
    """Is this = one of `.member = value` or `[index] = value` in an initializer?"""
    while at >= 2:
        if tokens[at - 2].text == "." and re.match(r"\w", tokens[at - 1].text):
            at -= 2
        elif tokens[at - 1].text == "]":
            depth, at = 1, at - 1
            while depth:
                at -= 1
                depth += {"]": 1, "[": -1}.get(tokens[at].text, 0)
        else:
            return False
        if tokens[at - 1].text in "{,":
            return True
    return False


def effects(tokens):
    """Assignments, ++ and --."""
    return [t for i, t in enumerate(tokens)
            if t.text in STEPS or (t.text in ASSIGNMENTS and not designator(tokens, i))]


def truth(tokens):
    """Is this expression's value that of a comparison, or of !, && or ||?"""
    at = 0
    while at < len(tokens):
        if tokens[at].text in {"==", "!=", "<", ">", "<=", ">=", "!", "&&", "||"}:
            return True
        if tokens[at].text in {"?", ","}:
            return False
        at = closing(tokens, at) + 1 if tokens[at].text in CLOSING else at + 1
    return False


def added_truths(tokens):
    """Compound assignments of a truth value: `n += a == b`."""
    return [t for i, t in enumerate(tokens)
            if t.text in ASSIGNMENTS - {"="} and truth(tokens[i + 1:])]


def definitions(text):
    """All that a file defines: functions, variables with a value, macros with a body."""
    tokens, directives = tokens_of(text)
    found = []
    for d in directives:
        macro = re.match(r"[ \t]*#\s*define\s+(\w+)(\([^)]*\))?(.*)", d.text, re.S)
        if macro and macro[3].strip():
            body = tokens_of(macro[3].replace("\\\n", " \n"))[0]
            found.append(Definition("macro", macro[1], True, body, (d.line, d.line)))
    at = 0
    while at < len(tokens):
        end = find(tokens, at, {";", "{", "="})
        head = tokens[at:end]
        # also `struct x {` and `static const struct { ... } name = ...`
        while end < len(tokens) and tokens[end].text == "{" and not is_function(head):
            head, end = tokens[at:closing(tokens, end) + 1], closing(tokens, end) + 1
            rest = find(tokens, end, {";", "{", "="})
            head, end = tokens[at:rest], rest
        static = any(t.text == "static" for t in head)
        if end < len(tokens) and tokens[end].text == "{":
            last = closing(tokens, end)
            found.append(Definition("function", function_name(head), static,
                                    tokens[end:last + 1], (head[0].line, tokens[last].line)))
            at = last + 1
            continue
        last = find(tokens, end, {";"})
        if end < last:
            found.append(Definition("variable", variable_name(head), static,
                                    tokens[end + 1:last], (head[0].line, tokens[end].line)))
        at = last + 1
    return found


def plain_head(head):
    """Without attributes, and what stands in braces and square brackets."""
    kept, at = [], 0
    while at < len(head):
        if head[at].text == "__attribute__":
            at = closing(head, at + 1) + 1
        elif head[at].text in "[{":
            at = closing(head, at) + 1
        else:
            kept.append(head[at])
            at += 1
    return kept


def is_function(head):
    head = plain_head(head)
    return bool(head) and head[-1].text == ")" and function_name(head) is not None


def function_name(head):
    head = plain_head(head)
    for i, t in enumerate(head[1:], 1):
        if t.text == "(" and re.match(r"[A-Za-z_]\w*$", head[i - 1].text):
            return head[i - 1].text
    return None


def variable_name(head):
    return [t.text for t in plain_head(head) if re.match(r"[A-Za-z_]\w*$", t.text)][-1]


class Walk:
    """Goes through the statements of a function's body and calls what a subclass has."""

    def condition(self, tokens):
        """Of if, while, do, switch, and the middle of for."""

    def simple(self, tokens):
        """An expression or declaration, up to its semicolon."""

    def control(self, keyword, line):
        """if, for, while, do, switch, case, default, return, break, continue, goto."""

    def heading(self, tokens):
        """The first and the last part of a for, or what a return returns."""

    def block(self, tokens, at=0):
        """The statements between the braces at `at`; the index after them."""
        end = closing(tokens, at)
        at += 1
        while at < end:
            at = self.statement(tokens, at)
        return end + 1

    def statement(self, tokens, at):
        word = tokens[at].text
        if word == "{":
            return self.block(tokens, at)
        if word == ";":
            return at + 1
        if word in ("if", "while", "switch", "for"):
            return self.with_head(tokens, at)
        if word == "do":
            self.control(word, tokens[at].line)
            at = self.statement(tokens, at + 1)
            end = closing(tokens, at + 1)
            self.condition(tokens[at + 2:end])
            return end + 2
        if word in ("case", "default"):
            self.control(word, tokens[at].line)
            return find(tokens, at, {":"}) + 1
        if tokens[at + 1].text == ":":
            return at + 2
        end = find(tokens, at, {";"})
        if word in ("return", "break", "continue", "goto"):
            self.control(word, tokens[at].line)
            self.heading(tokens[at + 1:end])
            return end + 1
        if tokens[at + 1].text == "(" and re.match(r"[A-Za-z_]", word):
            after = closing(tokens, at + 1) + 1
            # a macro that is a loop
            if after < len(tokens) and re.match(r"[A-Za-z_{]", tokens[after].text):
                self.control("for", tokens[at].line)
                return self.statement(tokens, after)
        self.simple(tokens[at:end])
        return end + 1

    def with_head(self, tokens, at):
        word, end = tokens[at].text, closing(tokens, at + 1)
        self.control(word, tokens[at].line)
        head = tokens[at + 2:end]
        if word == "for":
            first = find(head, 0, {";"})
            second = find(head, first + 1, {";"})
            self.heading(head[:first])
            self.condition(head[first + 1:second])
            self.heading(head[second + 1:])
        else:
            self.condition(head)
        at = self.statement(tokens, end + 1)
        if word == "if" and tokens[at].text == "else":
            at = self.statement(tokens, at + 1)
        return at
