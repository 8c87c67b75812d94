package upkeep

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"capcli/profile"
	"capcli/profile/store"
)

// Keeper is a profile.Sink that writes to another and keeps the folder in order meanwhile: some time
// after each day has ended, and when the disk fills up. Write must be called by one goroutine.
type Keeper struct {
	Sink profile.Sink
	Host string
	// Run does the work up to an instant of today, in a goroutine of its own, one at a time. full
	// says that something could not be written for lack of room.
	Run func(today profile.Instant, full bool) (*Result, error)
	// Prunes says that Run removes days: then a full disk does not end the recording, and Run is
	// called before the disk is full.
	Prunes bool
	Room   func() (free, size int64, ok bool) // as Sources.Room; nil is not known
	Note   func(string)                       // tells the user; other goroutines call it

	begun  bool
	day    int64         // days from 1970-01-01 to that of the last tick
	due    time.Duration // when Run is called next
	looked time.Duration // when Room was called last
	early  time.Duration // when Run was last called because of a full disk
	full   bool          // the last tick was not written
	short  atomic.Bool   // something else was not, since Run was called last

	// Of the last run, to say each thing once. Only one run is under way.
	kept  []KeptDay
	fault string

	wg     sync.WaitGroup
	mu     sync.Mutex // guards the fields below
	busy   bool
	failed bool // the last Run did
	events []profile.Event
}

// When Run is called.
const (
	afterStart = time.Minute      // what an earlier run left
	afterDay   = 10 * time.Minute // a clock that jumps ahead for less changes nothing
	spread     = time.Hour        // the most by which boxes differ, so that a bucket is not overrun
	afterFault = time.Hour
	lookEvery  = time.Minute // at the room on the disk
	earlyEvery = 10 * time.Minute
	never      = time.Duration(math.MaxInt64)
)

const usPerDay = 86_400_000_000

// Write implements profile.Sink.
func (k *Keeper) Write(t *profile.Tick) error {
	k.mu.Lock()
	told := len(k.events)
	for _, e := range k.events {
		e.At = t.At
		t.Events = append(t.Events, e)
	}
	k.mu.Unlock()
	err := k.Sink.Write(t)
	if err == nil && told > 0 {
		k.mu.Lock()
		k.events = slices.Delete(k.events, 0, told)
		k.mu.Unlock()
	}
	full := err != nil && isFull(err)
	if err != nil && (!full || !k.Prunes) {
		return err
	}
	if full && !k.full {
		k.Note(fmt.Sprintf("%v; the recording goes on, and ticks are lost until there is room", err))
	}
	k.full = full
	k.plan(t)
	return nil
}

// Trouble tells the Keeper of a fault of the work behind Sink. Other goroutines call it.
func (k *Keeper) Trouble(err error) {
	if isFull(err) {
		k.short.Store(true)
	}
}

func isFull(err error) bool {
	disk, ok := errors.AsType[*store.DiskError](err)
	return ok && disk.Full
}

// plan starts the work where it is due.
func (k *Keeper) plan(t *profile.Tick) {
	day, now := int64(t.At)/usPerDay, t.Elapsed
	switch {
	case !k.begun:
		k.begun, k.day, k.due, k.looked, k.early = true, day, now+afterStart, now, now-earlyEvery
	case day != k.day:
		k.day, k.due = day, min(k.due, now+afterDay+k.lag())
	}
	full := k.full || k.short.Load()
	if k.Prunes && (full && now-k.early >= lookEvery || k.isLow(now) && now-k.early >= earlyEvery) {
		k.early, k.due = now, now
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed {
		k.failed, k.due = false, min(k.due, now+afterFault)
	}
	if now < k.due || k.busy {
		return
	}
	k.busy, k.due = true, never
	k.wg.Add(1)
	k.short.Store(false)
	go k.run(t.At, full)
}

// lag is by how much this box comes later than the first.
func (k *Keeper) lag() time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.Host)) // a hash never fails
	return time.Duration(h.Sum32()%3600) * spread / 3600
}

// isLow reports whether the disk is filling up. It looks once in a while.
func (k *Keeper) isLow(now time.Duration) bool {
	if k.Room == nil || now-k.looked < lookEvery {
		return false
	}
	k.looked = now
	free, size, ok := k.Room()
	return ok && free < leastFree(size)
}

func (k *Keeper) run(today profile.Instant, full bool) {
	defer k.wg.Done()
	got, err := k.Run(today, full)
	var events []profile.Event
	if got != nil {
		for _, d := range got.Removed {
			k.Note(d.String())
			events = append(events, profile.Event{Kind: profile.DayRemoved, Value: d.Bytes, Text: d.String()})
		}
		if !slices.Equal(got.Kept, k.kept) {
			k.kept = got.Kept
			for _, d := range got.Kept {
				k.Note(fmt.Sprintf("%s of %s is kept: %s", d.Day, d.Host, d.Why))
			}
		}
		for _, bad := range got.Bad {
			k.Note(bad)
		}
	}
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	if fault != k.fault && fault != "" {
		k.Note(fmt.Sprintf("the files of past days are not in order yet, capcli tries again: %v", err))
	}
	k.fault = fault
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy, k.failed, k.events = false, err != nil, append(k.events, events...)
}

// Close implements profile.Sink. It waits for the work under way, which the caller may stop.
func (k *Keeper) Close() error {
	k.wg.Wait()
	return k.Sink.Close()
}
