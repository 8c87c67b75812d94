package forecast

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/forecast/simple"
	"capcli/forecast/theta"
)

// spy is a model that remembers what it was shown.
type spy struct {
	mu   *sync.Mutex
	seen map[int]int // length of what was shown, and its capacity
}

func (s spy) Fit(y capcli.Series) (model.Fitted, error) {
	s.mu.Lock()
	s.seen[len(y.Values)] = cap(y.Values)
	s.mu.Unlock()
	return simple.Walk{Name: "naive", Lag: 1}.Fit(y)
}

func counting(n int) capcli.Series {
	y := capcli.Series{Values: make([]float64, n)}
	for i := range y.Values {
		y.Values[i] = float64(i*i%37) + float64(i)
	}
	return y
}

func TestBacktestNeverSeesTheFuture(t *testing.T) {
	s := spy{&sync.Mutex{}, map[int]int{}}
	got, err := Backtest(s, counting(100), 1, BacktestOptions{Horizon: 10, Origins: 4, Every: 5})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[int]int{75: 75, 80: 80, 85: 85, 90: 90}; !reflect.DeepEqual(s.seen, want) {
		t.Errorf("shown %v, want %v", s.seen, want)
	}
	for i, r := range got {
		if want := 75 + 5*i; r.At != want || r.Actual[0] != counting(100).Values[want] || len(r.Actual) != 10 {
			t.Errorf("origin %d at %d, want %d", i, r.At, want)
		}
	}
}

func TestBacktestIsTheSameInOrderAndInParallel(t *testing.T) {
	var all [][]Origin
	for _, inOrder := range []bool{true, false} {
		r, err := Backtest(theta.Theta{Period: 1}, counting(200), 1, BacktestOptions{Horizon: 7, Origins: 9, InOrder: inOrder, Levels: []float64{80, 95}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if !reflect.DeepEqual(all[0], all[1]) {
		t.Error("the result depends on the order in which origins are run")
	}
}

func TestBacktestTooShort(t *testing.T) {
	if _, err := Backtest(theta.Theta{}, counting(5), 1, BacktestOptions{Horizon: 8}); !errors.Is(err, model.ErrTooShort) {
		t.Errorf("%v, want %v", err, model.ErrTooShort)
	}
}
