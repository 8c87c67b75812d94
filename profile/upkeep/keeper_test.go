package upkeep

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/store"
)

const noon = profile.Instant(1_795_521_600_000_000) // 2026-11-24T12:00:00Z

// pad is a sink that keeps events and fails as told.
type pad struct {
	events []profile.Event
	ticks  int
	fault  error
}

func (p *pad) Write(t *profile.Tick) error {
	if p.fault != nil {
		return p.fault
	}
	p.ticks++
	p.events = append(p.events, t.Events...)
	return nil
}
func (p *pad) Close() error { return nil }

// notes keeps what the user was told.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, text)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.all, "\n")
}

// sampling writes ticks a second apart, of which step are skipped between two.
type sampling struct {
	t  *testing.T
	k  *Keeper
	at time.Duration
}

func (s *sampling) sampleUntil(at, step time.Duration) {
	s.t.Helper()
	for ; s.at < at; s.at += step {
		if err := s.k.Write(&profile.Tick{At: noon.Add(s.at), Elapsed: s.at, Every: time.Second}); err != nil {
			s.t.Fatal(err)
		}
		s.k.wg.Wait()
	}
}

func TestKeeperAfterEachDay(t *testing.T) {
	var days []string
	var fault error
	said, sink := &notes{}, &pad{}
	k := &Keeper{Sink: sink, Host: "gpu-07", Note: said.note, Run: func(today profile.Instant, _ bool) (*Result, error) {
		days = append(days, today.Std().Format("02T15"))
		return &Result{Removed: []RemovedDay{{"gpu-07", "2026-11-01", 4, 1234, "older than 3 days"}}, Kept: []KeptDay{{"gpu-07", "2026-11-02", "not uploaded"}}}, fault
	}}
	s := &sampling{t: t, k: k}
	s.sampleUntil(59*time.Second, time.Second)
	if len(days) != 0 {
		t.Fatalf("%v", days)
	}
	s.sampleUntil(48*time.Hour, 10*time.Second)
	if want := []string{"24T12", "25T00", "26T00"}; !slices.Equal(days, want) && !slices.Equal(days, []string{"24T12", "25T01", "26T01"}) {
		t.Errorf("%v, want %v", days, want)
	}
	if n := strings.Count(said.String(), "removed 2026-11-01 of gpu-07, 1,234 bytes: older than 3 days"); n != 3 {
		t.Errorf("told %d times: %s", n, said)
	}
	if n := strings.Count(said.String(), "2026-11-02 of gpu-07 is kept: not uploaded"); n != 1 {
		t.Errorf("told %d times: %s", n, said)
	}
	if len(sink.events) != 3 || sink.events[0].Kind != profile.DayRemoved || sink.events[0].Value != 1234 || sink.events[0].At == 0 {
		t.Errorf("%+v", sink.events)
	}
	days, fault = nil, errors.New("the bucket is away")
	s.sampleUntil(76*time.Hour, 10*time.Second)
	if len(days) < 14 || !strings.Contains(said.String(), "capcli tries again: the bucket is away") {
		t.Errorf("%v: %s", days, said)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}

// A full disk does not end a recording that may remove days, and makes it remove them at once.
func TestKeeperOnAFullDisk(t *testing.T) {
	full := &store.DiskError{Doing: "writing", Path: "x", Full: true, Err: syscall.ENOSPC}
	said, sink := &notes{}, &pad{}
	runs := 0
	k := &Keeper{Sink: sink, Prunes: true, Note: said.note, Run: func(profile.Instant, bool) (*Result, error) {
		if runs++; runs == 4 {
			sink.fault = nil // there is room
			return &Result{Removed: []RemovedDay{{Host: "box", Day: "2026-11-01"}}}, nil
		}
		return nil, errors.New("nothing may be removed")
	}}
	s := &sampling{t: t, k: k}
	s.sampleUntil(10*time.Second, time.Second)
	sink.fault = full
	s.sampleUntil(10*time.Minute, time.Second)
	if runs < 4 || runs > 5 || sink.fault != nil || sink.ticks < 400 || len(sink.events) != 1 {
		t.Errorf("%d runs, %d ticks, %v, %v", runs, sink.ticks, sink.events, said)
	}
	if n := strings.Count(said.String(), "ticks are lost until there is room"); n != 1 {
		t.Errorf("told %d times: %s", n, said)
	}
	sink.fault = errors.New("another")
	if err := k.Write(&profile.Tick{}); err == nil {
		t.Error("another fault is hidden")
	}
	k.Prunes, sink.fault = false, full
	if err := k.Write(&profile.Tick{}); err == nil {
		t.Error("a full disk is hidden, though nothing is removed")
	}
}

// A disk that fills up makes it run before it is full, not at each tick.
func TestKeeperOnAFillingDisk(t *testing.T) {
	runs, looks := 0, 0
	free := int64(100 << 30)
	k := &Keeper{
		Sink: &pad{}, Prunes: true, Note: func(string) {}, Run: func(profile.Instant, bool) (*Result, error) { runs++; return &Result{}, nil },
		Room: func() (int64, int64, bool) { looks++; return free, 200 << 30, true },
	}
	s := &sampling{t: t, k: k}
	s.sampleUntil(time.Hour, time.Second)
	if runs != 1 || looks > 60 {
		t.Errorf("%d runs, %d looks", runs, looks)
	}
	free = 200 << 20
	s.sampleUntil(2*time.Hour, time.Second)
	if runs < 6 || runs > 8 {
		t.Errorf("%d runs", runs)
	}
}

// What it adds to a tick takes no memory.
func TestKeeperTakesNoMemory(t *testing.T) {
	k := &Keeper{Sink: &pad{}, Prunes: true, Note: func(string) {}, Run: func(profile.Instant, bool) (*Result, error) { return nil, nil }, Room: func() (int64, int64, bool) { return 1 << 40, 1 << 40, true }}
	s := &sampling{t: t, k: k}
	s.sampleUntil(2*time.Minute, time.Second)
	tick := &profile.Tick{}
	if n := testing.AllocsPerRun(1000, func() {
		s.at += time.Second
		tick.At, tick.Elapsed = noon.Add(s.at), s.at
		_ = k.Write(tick)
	}); n > 0 {
		t.Errorf("%v allocations for a tick", n)
	}
}

func ExampleResult() {
	r := &Result{Merged: 12, Into: 4, Rows: 34_000, Uploaded: 4, UploadedBytes: 5_000_000, Bucket: "s3://fleet", r: &Request{Compact: true, Upload: "s3://fleet"}}
	fmt.Println(r.Lead())
	// Output: 12 files became 4, 34,000 rows; 0 left from earlier were removed; 4 files, 5,000,000 bytes, were uploaded to s3://fleet, and 0 removed there that they replace.
}
