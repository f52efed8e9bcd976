#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the expected values of the tests with independent implementations: the pip packages gguf (with numpy) for
dequantize_cases.inc, and tokenizers for pretokenize_cases.inc and tokenizer_cases.inc.

Run: generate_cases.py SmolLM2-135M-Instruct.Q4_1.gguf
"""
import pathlib
import sys

import numpy as np
from gguf import GGUFReader
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

HERE = pathlib.Path(__file__).parent
HEADER = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Written by generate_cases.py; do not edit.\n"

TEXTS = [
    "", " ", "a", "Hello, world!", "  two spaces  in front", "trailing spaces   ", "\n", "\n\n\n", " \n \n", "\r\nline\r\n",
    "tab\tand\t\ttabs", "it's we'll I'VE they'd can'T 'S 'LL x'Re", "it'\u017fx", "don''t 'tis", "2024-11-30 3.14159",
    "1234567 12 345", "a1b22c333", "x=1,y=-2;z+=3", "foo_bar camelCase snake_case", "https://x.org/a?b=1&c=%20",
    "na\u00efve caf\u00e9 \u00dcBER stra\u00dfe", "e\u0301 o\u0308", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u3053\u3093\u306b\u3061\u306f \u4e16\u754c", "\uc548\ub155\ud558\uc138\uc694",
    "\u0645\u0631\u062d\u0628\u0627 \u0661\u0662\u0663", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0967\u0968", "\u0e44\u0e17\u0e22",
    "\U0001f389 party \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7", "\u00bd cup, x\u00b2, \u2167",
    "\u00a0nbsp\u00a0 \u3000wide", "\u2028separator\x85next", "... !!! ??? -- \u2014 \u2026", "\u201cquoted\u201d (paren) [x] {y}",
    "def f(x):\n    return x + 1\n\n\nprint(f(2))", "    indented\n\tmixed\n  \n", "$5.00 \u20ac7 \u00a39", "a\u0000b", "\U000e0041\U0010fffd",
    "<|im_end|>", "<|endoftext|>text", "The quick brown fox jumps over the lazy dog.", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "internationalization antidisestablishmentarianism", "MixedCASE ALLCAPS lower", "\ufb01ne \u0130stanbul", "\u1e9e \u01c5",
]
MARKUP = [
    "<|im_start|>user\nHi<|im_end|>\n", "<|im_end|><|im_end|>", "a<|endoftext|> b", "<|im_start|", "<|im_<|im_end|>x",
    "<repo_name>a/b<file_sep>c 1", " <|im_start|> ", "<jupyter_code>1+1<jupyter_output>2",
]
LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)"
         r"|\s+")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


RULES = {
    "gpt2": split(GPT2),
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), split(GPT2)]),
    "llama_bpe": split(LLAMA % "{1,3}"),
    "qwen2": split(LLAMA % ""),
}


def literal(text):
    """A C++ string literal: printable ASCII as it is, the rest as three-digit octal bytes."""
    plain = lambda b: 32 <= b < 127 and b not in b'"\\?'
    return '"' + "".join(chr(b) if plain(b) else "\\%03o" % b for b in text.encode()) + '"'


def text_of(text):
    return "{%s, %d}" % (literal(text), len(text.encode()))


def write(name, lines):
    (HERE / name).write_text(HEADER + "// clang-format off\n" + "\n".join(lines) + "\n// clang-format on\n")


def pretokenize_cases():
    for rule, splitter in RULES.items():
        for text in TEXTS:
            pieces = [text_of(piece) for piece, _ in splitter.pre_tokenize_str(text)]
            yield "{PreTokenizer::%s, %s, {%s}}," % (rule, text_of(text), ", ".join(pieces))


def tokenizer_cases(path):
    fields = GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    case = lambda text, markup: "{%s, %s, {%s}}," % (
        text_of(text), markup, ", ".join(map(str, tokenizer.encode(text).ids)))
    yield from [case(text, "false") for text in TEXTS]
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token, kind in zip(tokens, kinds) if kind == 3])
    yield from [case(text, "true") for text in MARKUP]


def dequantize_cases():
    random = np.random.default_rng(20261130)
    for name in ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]:
        kind = GGMLQuantizationType[name]
        elements, size = GGML_QUANT_SIZES[kind]
        blocks = {1: 24, 32: 3, 256: 1}[elements]
        while True:
            packed = random.integers(0, 256, (blocks, size), dtype=np.uint8)
            values = packed.view(np.float16).astype(np.float32) if name == "F16" else dequantize(packed, kind)
            if np.isfinite(values).all():
                break
        bits = values.astype(np.float32).reshape(-1).view(np.uint32)
        yield "{TensorType::%s, {%s}," % (name.lower(), ", ".join("%d" % b for b in packed.reshape(-1)))
        yield " {%s}}," % ", ".join("0x%08x" % b for b in bits)


write("pretokenize_cases.inc", pretokenize_cases())
write("tokenizer_cases.inc", tokenizer_cases(sys.argv[1]))
write("dequantize_cases.inc", dequantize_cases())
