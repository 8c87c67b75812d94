package trace

import (
	"math"
	"strconv"
)

// flaw says what is wrong with a value, in words for a rejection; "" means no flaw.
type flaw string

// Flaws of numbers.
const (
	flawless  flaw = ""
	missing   flaw = "missing"
	notNumber flaw = "not a number"
	infinite  flaw = "not a finite number"
	tooLarge  flaw = "too large"
	negative  flaw = "negative"
)

// maxDigits is the most digits of a whole part that fixed reads itself.
const maxDigits = 15

// maxScaled is the largest number times scale: far enough from 2^63 for a fraction to be added.
const maxScaled = 1 << 62

// fixed parses b as a decimal number and returns it times scale, rounded to the nearest
// whole number (halves away from zero). whole reports that nothing was lost by rounding.
func fixed(b []byte, scale int64) (v int64, whole bool, bad flaw) {
	b = trim(b)
	if len(b) == 0 {
		return 0, false, missing
	}
	i, neg := 0, false
	if b[0] == '-' || b[0] == '+' {
		i, neg = 1, b[0] == '-'
	}
	first := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		v = v*10 + int64(b[i]-'0')
		if i-first >= maxDigits {
			return parseGeneral(b, scale)
		}
	}
	if v > maxScaled/scale {
		return 0, false, tooLarge
	}
	v *= scale
	whole = true
	if i < len(b) {
		if b[i] != '.' || (i == first && i+1 == len(b)) {
			return parseGeneral(b, scale)
		}
		var rest int64
		if rest, whole, bad = fraction(b[i+1:], scale); bad != flawless {
			return parseGeneral(b, scale)
		}
		v += rest
	} else if i == first {
		return 0, false, notNumber
	}
	if neg {
		v = -v
	}
	return v, whole, flawless
}

// fraction parses the digits after a decimal point and returns the fraction times scale,
// rounded. It ignores digits after the ninth.
func fraction(b []byte, scale int64) (v int64, whole bool, bad flaw) {
	var n, unit int64 = 0, 1
	for i, c := range b {
		if c -= '0'; c > 9 {
			return 0, false, notNumber
		}
		if i < 9 {
			n, unit = n*10+int64(c), unit*10
		}
	}
	n *= scale
	return (n + unit/2) / unit, n%unit == 0, flawless
}

// parseGeneral parses, for fixed, numbers with an exponent or with many digits, and finds
// the flaw of text that is not a number.
func parseGeneral(b []byte, scale int64) (v int64, whole bool, bad flaw) {
	for _, c := range b {
		if c == '_' || c == 'x' || c == 'X' || c == 'p' || c == 'P' {
			return 0, false, notNumber
		}
	}
	f, err := strconv.ParseFloat(string(b), 64)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) && err == nil:
		return 0, false, infinite
	case math.IsInf(f, 0) || math.Abs(f) > 1e15:
		return 0, false, tooLarge
	case err != nil:
		return 0, false, notNumber
	}
	if f *= float64(scale); math.Abs(f) > maxScaled {
		return 0, false, tooLarge
	}
	return int64(math.Round(f)), f == math.Trunc(f), flawless
}

// count parses a non-negative whole number.
func count(b []byte) (int64, flaw) {
	n, whole, bad := fixed(b, 1)
	switch {
	case bad != flawless:
		return 0, bad
	case n < 0:
		return 0, negative
	case !whole:
		return 0, "not a whole number"
	}
	return n, flawless
}

// trim removes blanks and tabs from both ends of b.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// parseGPUs parses a number of GPUs: a whole number, or a share of one GPU, which it returns
// as one GPU and the thousandths of it.
func parseGPUs(b []byte) (gpus, milli int, bad flaw) {
	n, whole, bad := fixed(b, 1000)
	switch {
	case bad != flawless:
		return 0, 0, bad
	case n < 0:
		return 0, 0, negative
	case n == 0 && !whole:
		return 0, 0, "under a thousandth of a GPU"
	case n%1000 == 0:
		if n/1000 > maxGPUs {
			return 0, 0, "over 10 million"
		}
		return int(n / 1000), 0, flawless
	case n < 1000:
		return 1, int(n), flawless
	}
	return 0, 0, "a fraction above one GPU"
}
