package focus

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"strconv"

	"capcli"
)

// Amount is an exact decimal number, of money or of a quantity, as bills state
// them: 18 places behind the point and 18 before it, kept in 128 bits. Providers
// bill in fractions far below the millionth of a dollar that USD counts.
type Amount struct {
	hi int64 // of the number of 1e-18 units, two's complement
	lo uint64
}

const (
	amountPlaces = 18
	amountUnit   = 1_000_000_000_000_000_000 // 1e18 units are one
	perMillionth = amountUnit / 1_000_000
)

// AmountOf is u as an Amount.
func AmountOf(u capcli.USD) Amount {
	return NewAmount(uint64(max(u, -u)), 6).signed(u < 0)
}

// NewAmount is n with so many of its digits behind the point, 18 at most.
func NewAmount(n uint64, places int) Amount { return product64(n, powersOf10[amountPlaces-places]) }

// product64 is x times y, which must stay below 2^127.
func product64(x, y uint64) Amount {
	hi, lo := bits.Mul64(x, y)
	return Amount{int64(hi), lo}
}

// Sign is -1, 0 or 1.
func (a Amount) Sign() int { return a.Cmp(Amount{}) }

// Neg is -a.
func (a Amount) Neg() Amount {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	return Amount{int64(-uint64(a.hi) - borrow), lo}
}

// Abs is a without its sign.
func (a Amount) Abs() Amount { return a.signed(a.hi < 0) }

// signed is -a where neg is set, else a.
func (a Amount) signed(neg bool) Amount {
	if neg {
		return a.Neg()
	}
	return a
}

// Add is a + b; it fails with capcli.ErrOverflow from 9.2e18 on.
func (a Amount) Add(b Amount) (Amount, error) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	s := Amount{int64(uint64(a.hi) + uint64(b.hi) + carry), lo}
	if s.hi >= amountUnit/2 || s.hi < -amountUnit/2 {
		return Amount{}, capcli.ErrOverflow
	}
	return s, nil
}

// Sub is a - b.
func (a Amount) Sub(b Amount) (Amount, error) { return a.Add(b.Neg()) }

// share is a x part / whole, rounded down, for 0 <= part <= whole.
func (a Amount) share(part, whole int64) (Amount, error) {
	if whole <= 0 || part < 0 || part > whole {
		return Amount{}, capcli.ErrOverflow
	}
	if a.hi < 0 {
		s, err := a.Neg().share(part, whole)
		return s.Neg(), err
	}
	// 192 bits: a is top, mid and low words times part.
	h1, l1 := bits.Mul64(a.lo, uint64(part))
	h2, l2 := bits.Mul64(uint64(a.hi), uint64(part))
	mid, carry := bits.Add64(h1, l2, 0)
	top := h2 + carry // below whole, for part is at most whole and a.hi below 2^63
	if top >= uint64(whole) {
		return Amount{}, capcli.ErrOverflow
	}
	hi, rest := bits.Div64(top, mid, uint64(whole))
	lo, _ := bits.Div64(rest, l1, uint64(whole))
	return Amount{int64(hi), lo}, nil
}

// Times is a x b, cut towards zero at the eighteenth place: exact where their
// places together are no more. It fails with capcli.ErrOverflow.
func (a Amount) Times(b Amount) (Amount, error) {
	if neg := a.hi < 0 != (b.hi < 0); neg || a.hi < 0 {
		p, err := a.Abs().Times(b.Abs())
		return p.signed(neg), err
	}
	if b.hi >= amountUnit {
		return Amount{}, capcli.ErrOverflow
	}
	whole, frac := bits.Div64(uint64(b.hi), b.lo, amountUnit)
	h1, lo := bits.Mul64(a.lo, whole)
	h2, l2 := bits.Mul64(uint64(a.hi), whole)
	mid, carry := bits.Add64(h1, l2, 0)
	if h2+carry > 0 || mid >= amountUnit/2 {
		return Amount{}, capcli.ErrOverflow
	}
	part, err := a.share(int64(frac), amountUnit)
	if err != nil {
		return Amount{}, err
	}
	return Amount{int64(mid), lo}.Add(part)
}

// Rounded is a rounded half up to a whole number, for a of 0 or more; exact says that
// nothing was rounded.
func (a Amount) Rounded() (n uint64, exact bool) {
	n, rest := bits.Div64(uint64(a.hi), a.lo, amountUnit)
	if rest >= amountUnit/2 {
		n++
	}
	return n, rest == 0
}

// Cmp is -1, 0 or 1 as a is less than, equal to or more than b.
func (a Amount) Cmp(b Amount) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) }

// Float gives a for ratios, never for sums.
func (a Amount) Float() float64 {
	m := a.Abs()
	f := (float64(m.hi)*(1<<64) + float64(m.lo)) / amountUnit
	if a.hi < 0 {
		return -f
	}
	return f
}

// USD rounds a half away from zero to the millionth; it fails with
// capcli.ErrOverflow when that does not fit.
func (a Amount) USD() (capcli.USD, error) {
	m := a.Abs()
	if m.hi >= perMillionth/2 {
		return 0, capcli.ErrOverflow
	}
	q, r := bits.Div64(uint64(m.hi), m.lo, perMillionth)
	if r >= perMillionth/2 {
		q++
	}
	if q > math.MaxInt64 {
		return 0, capcli.ErrOverflow
	}
	if a.hi < 0 {
		return -capcli.USD(q), nil
	}
	return capcli.USD(q), nil
}

// Decimal writes a exactly, with at least places digits behind the point.
func (a Amount) Decimal(places int) string {
	m := a.Abs()
	whole, frac := bits.Div64(uint64(m.hi), m.lo, amountUnit)
	digits := fmt.Sprintf("%018d", frac)
	n := amountPlaces
	for n > places && digits[n-1] == '0' {
		n--
	}
	s := strconv.FormatUint(whole, 10)
	if n > 0 {
		s += "." + digits[:n]
	}
	if a.hi < 0 {
		s = "-" + s
	}
	return s
}

// String writes a exactly in the fewest digits.
func (a Amount) String() string { return a.Decimal(0) }

// MarshalJSON writes a as money is written: an exact decimal string.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(`"` + a.Decimal(2) + `"`), nil }

// plainAmount reads what nearly all numbers are: a sign, up to 18 digits, a point
// and up to 18 more. False is anything else.
func plainAmount[T string | []byte](text T) (Amount, bool) {
	i, neg := 0, false
	if len(text) > 0 && text[0] == '-' {
		i, neg = 1, true
	}
	var whole, frac uint64
	from := i
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		whole = whole*10 + uint64(text[i]-'0')
	}
	digits := i - from
	if digits == 0 || digits > amountPlaces {
		return Amount{}, false
	}
	if i < len(text) && text[i] == '.' {
		i++
		from = i
		for ; i < len(text) && text[i]-'0' <= 9; i++ {
			frac = frac*10 + uint64(text[i]-'0')
		}
		if i-from > amountPlaces {
			return Amount{}, false
		}
		frac *= powersOf10[amountPlaces-(i-from)]
	}
	if i != len(text) {
		return Amount{}, false
	}
	a := NewAmount(whole, 0)
	lo, carry := bits.Add64(a.lo, frac, 0)
	return Amount{a.hi + int64(carry), lo}.signed(neg), true
}

var powersOf10 = func() (p [amountPlaces + 1]uint64) {
	p[0] = 1
	for i := range amountPlaces {
		p[i+1] = 10 * p[i]
	}
	return p
}()

var (
	errNoNumber  = errors.New("is not a number; write 1234.56, without a sign of currency or commas")
	errLargeText = errors.New("is too large; at most 18 digits may stand before the point")
)

// numberText is a number: a sign, digits with a point among them, an exponent.
var numberText = regexp.MustCompile(`^([+-]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$`)

// ParseAmount reads a number as FOCUS writes it: "1234.56", "-0.5", "1.2E-7",
// without commas or a sign of currency. Digits past the eighteenth behind the
// point are rounded half away from zero, and rounded says so.
func ParseAmount(text string) (a Amount, rounded bool, err error) {
	if a, ok := plainAmount(text); ok {
		return a, false, nil
	}
	parts := numberText.FindStringSubmatch(text)
	if parts == nil {
		return Amount{}, false, errNoNumber
	}
	frac := parts[3] + parts[4]
	exp, err := strconv.Atoi(cmp.Or(parts[5], "0"))
	if err != nil || exp < -1000 || exp > 1000 || len(parts[2]+frac) > 1000 {
		return Amount{}, false, errNoNumber
	}
	n, _ := new(big.Int).SetString(parts[2]+frac, 10)
	shift := exp - len(frac) + amountPlaces // n times 10^shift is the number of units
	factor := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	up := false
	if shift >= 0 {
		n.Mul(n, factor)
	} else {
		rest := new(big.Int)
		n.QuoRem(n, factor, rest)
		rounded, up = rest.Sign() != 0, rest.Lsh(rest, 1).Cmp(factor) >= 0
	}
	if len(n.String()) > 2*amountPlaces {
		return Amount{}, false, errLargeText
	}
	if up {
		n.Add(n, big.NewInt(1))
	}
	return amountOfBig(n).signed(parts[1] == "-"), rounded, nil
}

// QuotientAmount is n / d, cut at its eighteenth place; n is 0 or more, and d above 0.
func QuotientAmount(n *big.Int, d int64) Amount {
	v := new(big.Int).Mul(n, big.NewInt(amountUnit))
	return amountOfBig(v.Quo(v, big.NewInt(d)))
}

// amountOfBig is n units of 1e-18, of which the lowest 128 bits count.
func amountOfBig(n *big.Int) Amount {
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return Amount{int64(new(big.Int).Rsh(n, 64).Uint64()), lo.Uint64()}
}
