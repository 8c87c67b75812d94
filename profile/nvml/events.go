//go:build linux && cgo

package nvml

import (
	"fmt"
	"sync"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

const (
	// waitMs is the time limit of one wait for an event, in milliseconds. An event ends the wait
	// at once; the limit bounds the time that ending the watch takes.
	waitMs = 500
	// afterTrouble is the pause after a wait that failed.
	afterTrouble = time.Second
	// mostEvents is the largest number of events held until Read fetches them.
	mostEvents = 1024

	wanted = driver.EventXid | driver.EventDoubleBitECC
)

// watch waits for events of the GPUs, on a goroutine of its own.
type watch struct {
	set    driver.EventSet
	now    func() (profile.Instant, time.Duration)
	name   map[driver.Device]string // UUID by handle: the handle in an event may no longer answer
	stop   chan struct{}
	done   chan struct{}
	ending bool

	mu   sync.Mutex
	list []profile.Event
	lost int64 // events for which there was no room
	ecc  bool
}

// startWatch registers the GPUs and starts to wait for their events. It returns nil where the
// driver offers no events.
func startWatch(l *library, list []found, now func() (profile.Instant, time.Duration)) *watch {
	if !l.hasEvents() {
		return nil
	}
	set, ret := l.lib.EventSetCreate()
	if ret != driver.Success {
		return nil
	}
	w := &watch{
		set: set, now: now, name: map[driver.Device]string{},
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	for i := range list {
		f := &list[i]
		if f.code != success {
			continue
		}
		types := uint64(wanted)
		if offered, ret := f.handle.LongNumber(driver.SymEventTypes); ret == driver.Success {
			types &= offered
		}
		if types != 0 && f.handle.RegisterEvents(types, set) == driver.Success {
			w.name[f.handle] = f.device.UUID
			f.eccEvents = types&driver.EventDoubleBitECC != 0
		}
	}
	if len(w.name) == 0 {
		_ = set.Free()
		return nil
	}
	go w.wait()
	return w
}

func (w *watch) wait() {
	defer close(w.done)
	timer := newTimer()
	for {
		select {
		case <-w.stop:
			return
		default:
		}
		_, began := w.now()
		e, ret := w.set.Wait(waitMs)
		_, ended := w.now()
		switch c := code(ret); {
		case c == success:
			w.keep(&e)
		case c == timedOut && ended-began > waitMs*time.Millisecond/4:
		default: // the wait failed or returned at once: pause, so that the loop does not spin
			timer.Reset(afterTrouble)
			select {
			case <-w.stop:
				return
			case <-timer.C:
			}
		}
	}
}

func (w *watch) keep(e *driver.Event) {
	at, _ := w.now()
	out := profile.Event{At: at, Device: w.name[e.Device]}
	switch {
	case e.Kind&driver.EventXid != 0:
		out.Kind, out.Value = profile.Xid, int64(e.Data)
		out.Text = xidText(e.Data)
		if e.GPUInstance != noInstance {
			out.Text += fmt.Sprintf("; GPU instance %d", e.GPUInstance)
		}
	case e.Kind&driver.EventDoubleBitECC != 0:
		out.Kind, out.Value, out.Text = profile.ECCError, 1, "memory error that was not corrected"
	default:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ecc = w.ecc || out.Kind == profile.ECCError
	if len(w.list) >= mostEvents {
		w.lost++
		return
	}
	w.list = append(w.list, out)
}

// noInstance is the instance number that means none.
const noInstance = 0xFFFFFFFF

// drain moves the events into t and reports whether a memory error is among them.
func (w *watch) drain(t *profile.Tick) (ecc bool) {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Events = append(t.Events, w.list...)
	if w.lost > 0 {
		at, _ := w.now()
		t.Events = append(t.Events, profile.Event{At: at, Kind: profile.Gap, Text: fmt.Sprintf("%d events more than could be held", w.lost)})
	}
	w.list, w.lost = w.list[:0], 0
	ecc, w.ecc = w.ecc, false
	return ecc
}

// end stops the waiting and frees the event set. It returns false where the driver does not
// return from the wait within tearDown.
func (w *watch) end() bool {
	if w == nil {
		return true
	}
	if !w.ending {
		w.ending = true
		close(w.stop)
	}
	timer := newTimer()
	timer.Reset(tearDown)
	defer timer.Stop()
	select {
	case <-w.done:
		_ = w.set.Free()
		return true
	case <-timer.C:
		return false
	}
}
