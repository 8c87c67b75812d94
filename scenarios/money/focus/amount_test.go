package focus

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

func TestParseAmount(t *testing.T) {
	tests := []struct {
		text, want string
		rounded    bool
	}{
		{"0", "0", false},
		{"-0", "0", false},
		{"1234.56", "1234.56", false},
		{".5", "0.5", false},
		{"5.", "5", false},
		{"+1", "1", false},
		{"-0.000000000000000001", "-0.000000000000000001", false},
		{"1.2E-7", "0.00000012", false},
		{"1e3", "1000", false},
		{"12.5e1", "125", false},
		{"0e999", "0", false},
		{"0.0000000000000000005", "0.000000000000000001", true},
		{"0.00000000000000000049", "0", true},
		{"-0.0000000000000000015", "-0.000000000000000002", true},
		{"1.0000000000000000000000", "1", false},
		{"999999999999999999.999999999999999999", "999999999999999999.999999999999999999", false},
		{"9e-19", "0.000000000000000001", true},
		{"9e-20", "0", true},
		{"0.9999999999999999999", "1", true},
	}
	for _, tt := range tests {
		a, rounded, err := ParseAmount(tt.text)
		if err != nil || a.String() != tt.want || rounded != tt.rounded {
			t.Errorf("%s: got %s, rounded %v, %v, want %s, %v", tt.text, a, rounded, err, tt.want, tt.rounded)
		}
	}
	for _, bad := range []string{"", "-", "1,000", "$1", "1e", "e5", "1.2.3", "0x10", "1_000", "NaN", "Inf", "1000000000000000000", "1e18", "1e2000"} {
		if a, _, err := ParseAmount(bad); err == nil {
			t.Errorf("%q: got %s, want an error", bad, a)
		}
	}
}

// Sums, signs and rounding are those of big integers.
func TestAmountIsBigIntegers(t *testing.T) {
	toBig := func(a Amount) *big.Int {
		x := new(big.Int).Lsh(big.NewInt(a.hi), 64)
		return x.Add(x, new(big.Int).SetUint64(a.lo))
	}
	draw := rapid.Custom(func(t *rapid.T) Amount {
		a := product64(rapid.Uint64().Draw(t, "x"), rapid.Uint64Max(1<<57).Draw(t, "y"))
		if rapid.Bool().Draw(t, "negative") {
			a = a.Neg()
		}
		return a
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		sum, err := a.Add(b)
		if want := new(big.Int).Add(toBig(a), toBig(b)); err != nil || toBig(sum).Cmp(want) != 0 {
			t.Fatalf("%s + %s: got %s, %v, want %s", a, b, sum, err, want)
		}
		if got, want := a.Cmp(b), toBig(a).Cmp(toBig(b)); got != want {
			t.Fatalf("%s against %s: got %d, want %d", a, b, got, want)
		}
		if toBig(a.Neg()).Cmp(new(big.Int).Neg(toBig(a))) != 0 || a.Sign() != toBig(a).Sign() {
			t.Fatalf("-%s is %s", a, a.Neg())
		}
		again, rounded, err := ParseAmount(a.String())
		if err == nil && (again != a || rounded) {
			t.Fatalf("%s is read as %s", a, again)
		}
		whole := rapid.Int64Range(1, math.MaxInt64).Draw(t, "whole")
		part := rapid.Int64Range(0, whole).Draw(t, "part")
		share, err := a.share(part, whole)
		if want := new(big.Int).Quo(new(big.Int).Mul(toBig(a), big.NewInt(part)), big.NewInt(whole)); err != nil || toBig(share).Cmp(want) != 0 {
			t.Fatalf("%s x %d / %d: got %s, %v, want %s units", a, part, whole, share, err, want)
		}
		u, err := a.USD()
		half := new(big.Int).Abs(toBig(a))
		half.Add(half, big.NewInt(perMillionth/2)).Quo(half, big.NewInt(perMillionth))
		if a.Sign() < 0 {
			half.Neg(half)
		}
		if half.IsInt64() != (err == nil) || err == nil && half.Int64() != int64(u) {
			t.Fatalf("%s in dollars: got %d, %v, want %s", a, u, err, half)
		}
	})
	big, _, _ := ParseAmount("999999999999999999")
	var err error
	for range 20 {
		if big, err = big.Add(big); err != nil {
			break
		}
	}
	if !errors.Is(err, capcli.ErrOverflow) {
		t.Errorf("doubling without end: got %v, want an overflow", err)
	}
}

// The product of amounts is that of whole numbers, cut at the eighteenth place.
func TestAmountTimes(t *testing.T) {
	for _, tt := range [][3]string{
		{"0.333333333333", "1.234567", "0.411522333332921811"},
		{"-2.5", "4", "-10"},
		{"2.5", "-0.000001", "-0.0000025"},
		{"123456789.123456789", "987654.321", "121932631234567.900112635269"},
		{"0", "7", "0"},
		{"0.000000000000000001", "0.5", "0"},
	} {
		a, _, _ := ParseAmount(tt[0])
		b, _, _ := ParseAmount(tt[1])
		got, err := a.Times(b)
		other, err2 := b.Times(a)
		if err != nil || err2 != nil || got != other {
			t.Errorf("%s x %s: %s, %s, %v, %v", tt[0], tt[1], got, other, err, err2)
		}
		if want, _, _ := ParseAmount(tt[2]); got != want {
			t.Errorf("%s x %s: got %s, want %s", tt[0], tt[1], got, want)
		}
	}
	big, _, _ := ParseAmount("4000000000")
	if _, err := big.Times(big); !errors.Is(err, capcli.ErrOverflow) {
		t.Errorf("got %v, want an overflow", err)
	}
}
