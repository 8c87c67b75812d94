package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestSum holds a Sum against sums of whole numbers of any length, beyond 128 bits too.
func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got Sum
		want := new(big.Int)
		number := rapid.OneOf(rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(math.MaxInt64-3, math.MaxInt64), rapid.Int64Range(0, 9))
		for range rapid.IntRange(0, 40).Draw(t, "products") {
			a, b := number.Draw(t, "a"), number.Draw(t, "b")
			got.Add(a, b)
			want.Add(want, Product(a, b))
		}
		if got.Int().Cmp(want) != 0 {
			t.Fatalf("the sum is %v, want %v", got.Int(), want)
		}
	})
}
