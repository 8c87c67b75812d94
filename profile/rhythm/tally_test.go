package rhythm

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func tallyOf(periods ...float64) *Tally {
	t := &Tally{}
	for _, p := range periods {
		t.Add(Found{Judged: true, Period: p, Sure: p > 4})
	}
	return t
}

func TestStep(t *testing.T) {
	tests := []struct {
		name string
		t    *Tally
		want float64
	}{
		{"agree", tallyOf(8, 8.05, 7.96, 8.01, 0, 0, 16), 8.005},
		{"no window", &Tally{}, 0},
		{"two only", tallyOf(8, 8), 0},
		{"all differ", tallyOf(3, 5, 8, 13, 21, 34), 0},
		{"rare", tallyOf(8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0},
		{"two steps alike often", tallyOf(8, 8, 8, 12, 12, 12, 20), 0},
	}
	for _, tt := range tests {
		got := tt.t.Step()
		if math.Abs(got.Seconds-tt.want) > 0.001 {
			t.Errorf("%s: %+v, want %g", tt.name, got, tt.want)
		}
		if got.Seconds > 0 && (got.Low > got.Seconds || got.High < got.Seconds || !got.Sure) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestTalliesAddUpInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	all := &Tally{}
	parts := make([]*Tally, 7)
	for i := range parts {
		parts[i] = &Tally{}
	}
	for range 500 {
		f := Found{Judged: rng.IntN(9) > 0, Period: max(0, 60*rng.Float64()-10), Sure: rng.IntN(2) == 0}
		all.Add(f)
		parts[rng.IntN(len(parts))].Add(f)
	}
	sum := &Tally{}
	for _, i := range rng.Perm(len(parts)) {
		stored, err := ParseTally(parts[i].Append(nil))
		if err != nil || !reflect.DeepEqual(&stored, parts[i]) {
			t.Fatalf("%+v, %v: want %+v", stored, err, parts[i])
		}
		sum.Merge(&stored)
	}
	if !reflect.DeepEqual(sum, all) {
		t.Errorf("the parts make %+v, want %+v", sum, all)
	}
}

func FuzzParseTally(f *testing.F) {
	f.Add(tallyOf(8, 8.4, 20).Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ParseTally(b)
		if err != nil {
			return
		}
		v.Step()
		again, err := ParseTally(v.Append(nil))
		if err != nil || !bytes.Equal(again.Append(nil), v.Append(nil)) {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}
