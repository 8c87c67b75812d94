package trace

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFixed(t *testing.T) {
	for _, c := range []struct {
		in    string
		scale int64
		want  int64
		whole bool
		bad   flaw
	}{
		{"0", 1, 0, true, ""},
		{"-7", 1, -7, true, ""},
		{"+7", 1, 7, true, ""},
		{" 12 ", 1, 12, true, ""},
		{"66.0", 1, 66, true, ""},
		{"0.5", 1, 1, false, ""},
		{"-0.5", 1, -1, false, ""},
		{"1.49", 1, 1, false, ""},
		{".25", 1000, 250, true, ""},
		{"5.", 1, 5, true, ""},
		{"25.408055555555556", 3600, 91469, false, ""},
		{"1e5", 1, 100000, true, ""},
		{"1.5E3", 1, 1500, true, ""},
		{"999999999999999", 1, 999999999999999, true, ""},
		{"", 1, 0, false, missing},
		{"   ", 1, 0, false, missing},
		{"-", 1, 0, false, notNumber},
		{".", 1, 0, false, notNumber},
		{"1.2.3", 1, 0, false, notNumber},
		{"12a", 1, 0, false, notNumber},
		{"0x10", 1, 0, false, notNumber},
		{"1_000", 1, 0, false, notNumber},
		{"NaN", 1, 0, false, infinite},
		{"-Inf", 1, 0, false, infinite},
		{"1e400", 1, 0, false, tooLarge},
		{"99999999999999999999", 1, 0, false, tooLarge},
		{"999999999999999", 3600, 3599999999999996400, true, ""},
		{"1281023894007", 3_600_000, 1281023894007 * 3_600_000, true, ""},
		{"1281023894008", 3_600_000, 0, false, tooLarge},
		{"999999999999999.5", 3_600_000, 0, false, tooLarge},
		{"9e14", 3_600_000, 0, false, tooLarge},
	} {
		got, whole, bad := fixed([]byte(c.in), c.scale)
		if got != c.want || whole != c.whole || bad != c.bad {
			t.Errorf("fixed(%q, %d) = %d, %t, %q; want %d, %t, %q", c.in, c.scale, got, whole, bad, c.want, c.whole, c.bad)
		}
	}
}

// TestFixedExact compares with rational arithmetic for decimals of up to nine
// places.
func TestFixedExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,12}(\.[0-9]{1,9})?`).Draw(t, "text")
		scale := rapid.SampledFrom([]int64{1, 1000, 1024, 3600}).Draw(t, "scale")
		got, whole, bad := fixed([]byte(text), scale)
		exact, ok := new(big.Rat).SetString(text)
		if !ok || bad != flawless {
			t.Fatalf("fixed(%q) says %q", text, bad)
		}
		exact.Mul(exact, new(big.Rat).SetInt64(scale))
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(got), exact)
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("fixed(%q, %d) = %d, off by %s", text, scale, got, off.FloatString(6))
		}
		if whole != exact.IsInt() {
			t.Fatalf("fixed(%q, %d): whole is %t", text, scale, whole)
		}
	})
}

func TestParseGPUs(t *testing.T) {
	for _, c := range []struct {
		in          string
		gpus, milli int
		bad         flaw
	}{
		{"0", 0, 0, ""},
		{"8", 8, 0, ""},
		{"8.0", 8, 0, ""},
		{"0.25", 1, 250, ""},
		{"0.0001", 0, 0, "under a thousandth of a GPU"},
		{"1.5", 0, 0, "a fraction above one GPU"},
		{"-1", 0, 0, negative},
		{"10000000", 10_000_000, 0, ""},
		{"10000001", 0, 0, "over 10 million"},
		{"x", 0, 0, notNumber},
	} {
		gpus, milli, bad := parseGPUs([]byte(c.in))
		if gpus != c.gpus || milli != c.milli || bad != c.bad {
			t.Errorf("parseGPUs(%q) = %d, %d, %q; want %d, %d, %q", c.in, gpus, milli, bad, c.gpus, c.milli, c.bad)
		}
	}
}

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.OneOf(
			rapid.Map(rapid.IntRange(0, 40), func(n int) string { return strings.Repeat("0", n%2) + big.NewInt(int64(n)).String() }),
			rapid.StringMatching(`[a-c6e]{1,2}`),
			rapid.Map(rapid.IntRange(0, 120), func(n int) string { return fmt.Sprintf("j-%02d", n) }),
			rapid.Map(rapid.IntRange(0, 20), func(n int) string { return fmt.Sprintf("j-%d", n) }),
		), 0, 200).Draw(t, "ids")
		if rapid.Bool().Draw(t, "sorted") {
			slices.Sort(ids)
		}
		s, known := &idTable{hashes: map[uint64]struct{}{}}, map[string]bool{}
		for i, id := range ids {
			if has := s.Contains(id); has != known[id] {
				t.Fatalf("Has(%q) at %d is %t", id, i, has)
			}
			if seen := s.CheckAndAdd(id); seen != known[id] {
				t.Fatalf("Seen(%q) at %d is %t", id, i, seen)
			}
			known[id] = true
		}
	})
}
