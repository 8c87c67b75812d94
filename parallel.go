package capcli

import (
	"context"
	"runtime"
	"sync"
)

// EachParallel calls do for 0 to n-1 on all cores and returns when all calls have
// returned. After a failure or the end of ctx it makes no further calls. It returns the
// error of the first failed call in order, or the error of ctx. It panics again when do
// panics.
func EachParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, n)
	var (
		next    int
		failed  = n // index of the first failed call; n is none
		crash   any
		lock    sync.Mutex
		workers sync.WaitGroup
	)
	take := func() int {
		lock.Lock()
		defer lock.Unlock()
		if next >= failed || crash != nil || ctx.Err() != nil {
			return -1
		}
		next++
		return next - 1
	}
	one := func(i int) {
		defer func() {
			v := recover()
			lock.Lock()
			defer lock.Unlock()
			if v != nil && crash == nil {
				crash = v
			}
			if errs[i] != nil {
				failed = min(failed, i)
			}
		}()
		errs[i] = do(ctx, i)
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := take(); i >= 0; i = take() {
				one(i)
			}
		})
	}
	workers.Wait()
	if crash != nil {
		panic(crash)
	}
	if failed < n {
		return errs[failed]
	}
	return ctx.Err()
}

// MapParallel calls do for each item on all cores and returns the results in the order
// of the items. The first failed item in order decides the error, so results and errors
// do not depend on the number of cores. done, which may be nil, receives the number of
// finished items. MapParallel returns the cause of ctx as soon as ctx ends, without
// waiting for running calls, and panics again when do panics.
func MapParallel[T, R any](ctx context.Context, items []T, done func(n int), do func(context.Context, T) (R, error)) ([]R, error) {
	out := make([]R, len(items))
	finished, ended := make(chan struct{}, len(items)), make(chan error, 1)
	var crash any
	go func() {
		var err error
		defer func() {
			crash = recover()
			ended <- err
		}()
		err = EachParallel(ctx, len(items), func(ctx context.Context, i int) (err error) {
			defer func() { finished <- struct{}{} }()
			out[i], err = do(ctx, items[i])
			return err
		})
	}()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-finished:
			if n++; done != nil {
				done(n)
			}
		case err := <-ended:
			for ; len(finished) > 0; <-finished {
				if n++; done != nil {
					done(n)
				}
			}
			if crash != nil {
				panic(crash)
			}
			switch {
			case err != nil && ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case err != nil:
				return nil, err
			}
			return out, nil
		}
	}
}
