package parquet

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"

	"capcli"
)

// The encoders of parquet-go are the independent answer here.
func TestDeltas(t *testing.T) {
	rng := capcli.Seed(1).Stream("deltas")
	for _, n := range []int{1, 2, 31, 128, 129, 1000, 5000} {
		for _, width := range []int{0, 1, 7, 13, 33, 58, 63, 64} {
			t.Run(fmt.Sprintf("%d of %d bits", n, width), func(t *testing.T) {
				want := make([]int64, n)
				for i := range want {
					if want[i] = int64(rng.Uint64()); width < 64 {
						want[i] = int64(uint64(want[i]) & (1<<width - 1))
					}
				}
				b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
				if err != nil {
					t.Fatal(err)
				}
				d, err := newDeltas(append(b, "rest"...), n)
				if err != nil {
					t.Fatal(err)
				}
				if rest, err := d.rest(); err != nil || string(rest) != "rest" {
					t.Errorf("behind the stream stands %q, %v", rest, err)
				}
				got := make([]int64, n)
				if err := d.read(got); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v: got %v, want %v", err, got, want)
				}
				if err := d.read(got[:1]); err == nil {
					t.Error("a value behind the last was read")
				}
			})
		}
	}
}

func TestRuns(t *testing.T) {
	rng := capcli.Seed(1).Stream("runs")
	for _, most := range []int32{1, 2, 100, 70_000, 1 << 30} {
		want := make([]int32, 4000)
		for i := range want {
			if want[i] = rng.Int32N(most); i > 0 && i/100%2 == 0 {
				want[i] = want[i-1] // runs among the packed ones
			}
		}
		width := max(bits.Len32(uint32(most-1)), 1)
		b, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		r := newRuns(b, uint(width))
		got := make([]uint32, len(want))
		for from := 0; from < len(got); from += 37 {
			if err := r.read(got[from:min(from+37, len(got))]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range want {
			if got[i] != uint32(want[i]) {
				t.Fatalf("width %d, value %d: got %d, want %d", width, i, got[i], want[i])
			}
		}
	}
}
