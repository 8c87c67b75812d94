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

// Amount is an exact decimal number of money or of a quantity, as bills state it: 18 digits
// before the point and 18 after it, kept in 128 bits. Providers bill fractions far below the
// millionth of a dollar that USD counts. The zero value is 0.
type Amount struct {
	hi int64 // high word of the number of 1e-18 units, in two's complement
	lo uint64
}

const (
	amountPlaces = 18
	amountUnit   = 1_000_000_000_000_000_000 // number of 1e-18 units in 1
	perMillionth = amountUnit / 1_000_000
)

// AmountOf returns the dollars of u as an Amount.
func AmountOf(u capcli.USD) Amount { return NewAmount(uint64(max(u, -u)), 6).signed(u < 0) }

// NewAmount returns n / 10^places; places is from 0 to 18.
func NewAmount(n uint64, places int) Amount { return product64(n, powersOf10[amountPlaces-places]) }

// product64 returns x times y in units of 1e-18; the product must stay below 2^127.
func product64(x, y uint64) Amount {
	hi, lo := bits.Mul64(x, y)
	return Amount{int64(hi), lo}
}

// Sign returns -1, 0 or 1 as a is negative, zero or positive.
func (a Amount) Sign() int { return a.Cmp(Amount{}) }

// Neg returns -a.
func (a Amount) Neg() Amount {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	return Amount{int64(-uint64(a.hi) - borrow), lo}
}

// Abs returns the absolute value of a.
func (a Amount) Abs() Amount { return a.signed(a.hi < 0) }

// signed returns -a if neg is set, else a.
func (a Amount) signed(neg bool) Amount {
	if neg {
		return a.Neg()
	}
	return a
}

// Add returns a + b. It fails with capcli.ErrOverflow when the sum reaches 9.2e18 or falls
// below -9.2e18.
func (a Amount) Add(b Amount) (Amount, error) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	s := Amount{int64(uint64(a.hi) + uint64(b.hi) + carry), lo}
	if s.hi >= amountUnit/2 || s.hi < -amountUnit/2 {
		return Amount{}, capcli.ErrOverflow
	}
	return s, nil
}

// Sub returns a - b. It fails as Add does.
func (a Amount) Sub(b Amount) (Amount, error) { return a.Add(b.Neg()) }

// share returns a x part / whole, rounded towards zero, for 0 <= part <= whole. It fails with
// capcli.ErrOverflow for any other part or whole.
func (a Amount) share(part, whole int64) (Amount, error) {
	if whole <= 0 || part < 0 || part > whole {
		return Amount{}, capcli.ErrOverflow
	}
	if a.hi < 0 {
		s, err := a.Neg().share(part, whole)
		return s.Neg(), err
	}
	// The product a x part has 192 bits: the words top, mid and l1.
	h1, l1 := bits.Mul64(a.lo, uint64(part))
	h2, l2 := bits.Mul64(uint64(a.hi), uint64(part))
	mid, carry := bits.Add64(h1, l2, 0)
	top := h2 + carry // below whole, because part is at most whole and a.hi is below 2^63
	if top >= uint64(whole) {
		return Amount{}, capcli.ErrOverflow
	}
	hi, rest := bits.Div64(top, mid, uint64(whole))
	lo, _ := bits.Div64(rest, l1, uint64(whole))
	return Amount{int64(hi), lo}, nil
}

// Times returns a x b, cut towards zero after 18 decimals. The product is exact where a and b
// together have at most 18 decimals. It fails with capcli.ErrOverflow when the product does not
// fit.
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

// Rounded returns a rounded half up to a whole number, for a of 0 or more. exact reports that a
// was a whole number.
func (a Amount) Rounded() (n uint64, exact bool) {
	n, rest := bits.Div64(uint64(a.hi), a.lo, amountUnit)
	if rest >= amountUnit/2 {
		n++
	}
	return n, rest == 0
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Amount) Cmp(b Amount) int { return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo)) }

// Float returns the float64 nearest to a, within rounding. It is for ratios, never for sums.
func (a Amount) Float() float64 {
	m := a.Abs()
	f := (float64(m.hi)*(1<<64) + float64(m.lo)) / amountUnit
	if a.hi < 0 {
		return -f
	}
	return f
}

// USD returns a rounded to the millionth of a dollar, half away from zero. It fails with
// capcli.ErrOverflow when the result does not fit.
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

// Decimal returns a as an exact decimal text with at least the given number of decimals.
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

// String returns a as an exact decimal text in the fewest digits.
func (a Amount) String() string { return a.Decimal(0) }

// MarshalJSON writes a as money is written: an exact decimal string with at least two decimals.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(`"` + a.Decimal(2) + `"`), nil }

// plainAmount parses the form that nearly all numbers have: an optional minus sign, up to 18
// digits, and optionally a point and up to 18 more digits. It returns false for any other form.
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

// powersOf10 holds 10^0 to 10^18.
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

// numberText matches a number: an optional sign, digits with an optional point, an optional
// exponent.
var numberText = regexp.MustCompile(`^([+-]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$`)

// ParseAmount parses a number as FOCUS writes it: "1234.56", "-0.5", "1.2E-7", without
// thousands separators or a currency sign. Decimals after the eighteenth are rounded half away
// from zero, and rounded reports that. It fails for a text that is no number and for more than
// 18 digits before the point.
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
	shift := exp - len(frac) + amountPlaces // n x 10^shift is the number of 1e-18 units
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

// QuotientAmount returns n / d, cut after 18 decimals; n is 0 or more, and d is above 0.
func QuotientAmount(n *big.Int, d int64) Amount {
	v := new(big.Int).Mul(n, big.NewInt(amountUnit))
	return amountOfBig(v.Quo(v, big.NewInt(d)))
}

// amountOfBig returns n units of 1e-18; only the lowest 128 bits of n count.
func amountOfBig(n *big.Int) Amount {
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return Amount{int64(new(big.Int).Rsh(n, 64).Uint64()), lo.Uint64()}
}
