package capcli

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestMapParallel(t *testing.T) {
	items := make([]int, 1000)
	for i := range items {
		items[i] = i
	}
	var seen []int
	double := func(_ context.Context, i int) (int, error) { return 2 * i, nil }
	got, err := MapParallel(t.Context(), items, func(n int) { seen = append(seen, n) }, double)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != 2*i {
			t.Fatalf("result %d is %d, want %d", i, v, 2*i)
		}
	}
	if len(seen) != len(items) || !slices.IsSorted(seen) {
		t.Errorf("done was told %d times, want %d in order", len(seen), len(items))
	}
}

func TestMapParallelFails(t *testing.T) {
	odd, even := errors.New("odd"), errors.New("even")
	fail := func(_ context.Context, i int) (int, error) { return 0, []error{even, odd}[i%2] }
	for range 100 {
		if _, err := MapParallel(t.Context(), []int{1, 2, 3, 4}, nil, fail); !errors.Is(err, odd) {
			t.Fatalf("the error is %v, want that of the first item", err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(even)
	if _, err := MapParallel(ctx, []int{1}, nil, fail); !errors.Is(err, even) {
		t.Errorf("the error of an ended context is %v, want its cause", err)
	}
	defer func() {
		if v := recover(); v != "broken" {
			t.Errorf("recovered %v, want the panic of the item", v)
		}
	}()
	_, _ = MapParallel(t.Context(), []int{1, 2, 3}, nil, func(_ context.Context, i int) (int, error) {
		if i == 2 {
			panic("broken")
		}
		return 0, nil
	})
}
