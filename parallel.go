package capcli

import (
	"context"
	"runtime"
	"sync"
)

// MapParallel calls do for each item on all cores and returns the results in the
// order of the items. The first item that fails decides the error, so that neither
// results nor errors depend on the number of cores. It calls done, which may be nil,
// with the number of items that are finished. It returns the cause of ctx as soon as
// ctx ends, and raises again a panic of do.
func MapParallel[T, R any](ctx context.Context, items []T, done func(n int), do func(context.Context, T) (R, error)) ([]R, error) {
	out, errs := make([]R, len(items)), make([]error, len(items))
	todo, ended := make(chan int), make(chan any, len(items))
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		workers.Go(func() {
			for i := range todo {
				ended <- recovered(func() {
					if errs[i] = context.Cause(ctx); errs[i] == nil {
						out[i], errs[i] = do(ctx, items[i])
					}
				})
			}
		})
	}
	go func() {
		for i := range items {
			todo <- i
		}
		close(todo)
	}()
	var crash any
	for n := range items {
		select {
		case v := <-ended:
			if v != nil && crash == nil {
				crash = v
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if done != nil {
			done(n + 1)
		}
	}
	workers.Wait()
	if crash != nil {
		panic(crash)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// recovered calls f and returns what it panicked with, nil if it did not.
func recovered(f func()) (crash any) {
	defer func() { crash = recover() }()
	f()
	return nil
}
