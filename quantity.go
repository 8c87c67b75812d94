package capcli

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Quantity is an amount of a resource as Kubernetes writes it: "500m", "1k", "1Ti", "12e6". It is
// exact. The zero value is 0.
//
// The form is a decimal number and a suffix: n, u, m, k, M, G, T, P or E for powers of a thousand, Ki,
// Mi, Gi, Ti, Pi or Ei for powers of 1024, or e and an exponent of ten (Kubernetes API reference,
// resource.Quantity).
type Quantity struct {
	mantissa *big.Int // nil is 0
	ten, two int      // the amount is mantissa x 10^ten x 2^two
}

const (
	quantityMaxLen = 64
	quantityMaxExp = 100
)

// ParseQuantity reads a quantity. The error says what was wanted and found.
func ParseQuantity(text string) (Quantity, error) {
	wrong := func() (Quantity, error) {
		return Quantity{}, fmt.Errorf("want a quantity such as 8, 500m, 1k or 64Gi, found %s", Quoted(text))
	}
	if len(text) > quantityMaxLen {
		return wrong()
	}
	digits, suffix := text, ""
	if i := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("+-.0123456789", r) }); i >= 0 {
		digits, suffix = text[:i], text[i:]
	}
	ten, two, ok := quantitySuffix(suffix)
	whole, fraction, _ := strings.Cut(digits, ".")
	if !ok || strings.ContainsAny(fraction, ".+-") {
		return wrong()
	}
	sign := strings.TrimLeft(whole, "+-")
	if len(whole)-len(sign) > 1 || sign+fraction == "" {
		return wrong()
	}
	m, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return wrong()
	}
	return Quantity{m, ten - len(fraction), two}, nil
}

func quantitySuffix(s string) (ten, two int, ok bool) {
	switch s {
	case "":
		return 0, 0, true
	case "n", "u", "m":
		return 3*strings.Index("num", s) - 9, 0, true
	}
	if i := strings.Index("kMGTPE", s); i >= 0 && len(s) == 1 {
		return 3 * (i + 1), 0, true
	}
	if i := strings.Index("KMGTPE", s[:1]); i >= 0 && len(s) == 2 && s[1] == 'i' {
		return 0, 10 * (i + 1), true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, 0, false
	}
	exp, err := strconv.Atoi(s[1:])
	return exp, 0, err == nil && exp >= -quantityMaxExp && exp <= quantityMaxExp
}

// Value returns the amount in whole units. A fraction is rounded away from 0, and an amount that is
// too large is the largest int64.
func (q Quantity) Value() int64 { return q.scaled(0) }

// Milli returns the amount in thousandths, rounded as Value is.
func (q Quantity) Milli() int64 { return q.scaled(3) }

// Float returns the amount as a number.
func (q Quantity) Float() float64 {
	if q.mantissa == nil {
		return 0
	}
	f, _ := strconv.ParseFloat(q.mantissa.String()+"e"+strconv.Itoa(q.ten), 64)
	return math.Ldexp(f, q.two)
}

// scaled returns the amount times 10^digits.
func (q Quantity) scaled(digits int) int64 {
	if q.mantissa == nil {
		return 0
	}
	v := new(big.Int).Lsh(q.mantissa, uint(q.two))
	ten := q.ten + digits
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(ten, -ten))), nil)
	if ten >= 0 {
		v.Mul(v, power)
	} else {
		rest := new(big.Int)
		v.QuoRem(v, power, rest)
		v.Add(v, big.NewInt(int64(rest.Sign())))
	}
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// QuantityOf returns a quantity of whole units.
func QuantityOf(n int64) Quantity { return Quantity{mantissa: big.NewInt(n)} }

// QuantityOfMilli returns a quantity of thousandths.
func QuantityOfMilli(n int64) Quantity { return Quantity{mantissa: big.NewInt(n), ten: -3} }
