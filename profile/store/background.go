package store

import (
	"context"
	"errors"
	"path"
	"sync"
)

// background is the state of the two goroutines of a Writer: one syncs the current segment, the
// other converts ended segments to files.
type background struct {
	rows   *rower        // rows of the segment that is being converted
	dirty  chan struct{} // signals that a tick was written since the last sync
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	news    *sync.Cond
	waiting []ended // ended segments, not yet converted
	busy    bool    // a conversion is running
	over    bool
	fault   error // error of the last conversion; nil where it succeeded
	live    *segment
}

// ended is a segment to convert to files. seg is nil for a segment that an earlier run left.
type ended struct {
	seq int64
	seg *segment
}

func (w *Writer) start() {
	b := &w.background
	b.dirty = make(chan struct{}, 1)
	b.news = sync.NewCond(&b.mu)
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.wg.Add(2)
	go w.syncs(ctx)
	go w.converts()
}

// wake tells the syncing goroutine that a tick was written.
func (w *Writer) wake() {
	w.mu.Lock()
	w.live = w.seg
	w.mu.Unlock()
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// syncs makes the last writes durable, at most once per o.Sync. Without a Clock it syncs after
// each tick.
func (w *Writer) syncs(ctx context.Context) {
	defer w.wg.Done()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.dirty:
		}
		w.mu.Lock()
		s := w.live
		w.mu.Unlock()
		if err := w.sync(s); err != nil {
			w.o.Trouble(err)
		}
		if w.o.Clock != nil {
			_, now := w.o.Clock.Now()
			_ = w.o.Clock.Wait(ctx, now+w.o.Sync) // Wait ends early only when the Writer stops
		}
	}
}

// sync makes the content of a segment durable, and on the first call its name too. It skips a
// closed segment: that one was synced before it was closed.
func (w *Writer) sync(s *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		return diskFault("syncing", path.Join(w.dir, logName(s.seq)), err)
	}
	if !s.named {
		if err := w.o.Disk.SyncDir(w.dir); err != nil {
			return diskFault("syncing", w.dir, err)
		}
		s.named = true
	}
	return nil
}

// hand queues a segment for conversion to files.
func (w *Writer) hand(e ended) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, e)
	w.news.Signal()
}

// converts converts segments to files as they end. It retries a failed segment when the next
// segment ends, and once more when the Writer stops.
func (w *Writer) converts() {
	defer w.wg.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	tried := 0
	for {
		for !w.over && len(w.waiting) <= tried {
			w.news.Wait()
		}
		over := w.over
		todo := w.waiting
		w.waiting, w.busy = nil, true
		w.mu.Unlock()
		failed, fault := w.convertAll(todo)
		w.mu.Lock()
		w.waiting, w.busy = append(failed, w.waiting...), false
		w.fault, tried = fault, len(failed)
		if over {
			return
		}
	}
}

func (w *Writer) convertAll(todo []ended) (failed []ended, fault error) {
	for i, e := range todo {
		var err error
		if e.seg != nil { // the segment must be durable in case the conversion fails
			err = errors.Join(w.sync(e.seg), e.seg.close())
			e.seg = nil
		}
		if err != nil {
			w.o.Trouble(err)
		}
		l, err := list(w.o.Disk, w.root, w.o.Host)
		if err == nil {
			_, err = l.convert(e.seq, w.o.Program, w.rows)
		}
		if err != nil {
			failed, fault = append(failed, e), err
			w.o.Trouble(err)
		}
		var full *DiskError
		if errors.As(err, &full) && full.Full { // the other segments will not fit either
			return append(failed, todo[i+1:]...), fault
		}
	}
	return failed, fault
}

// stop ends both goroutines, waits for them and returns the error of the last conversion.
func (w *Writer) stop() error {
	w.mu.Lock()
	w.over = true
	w.news.Signal()
	w.mu.Unlock()
	w.cancel()
	w.wg.Wait()
	return w.fault
}
