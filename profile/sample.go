package profile

import (
	"slices"
	"time"

	"capcli"
)

// Instant is a time in microseconds since 1970-01-01 UTC: sampling is faster
// than the whole seconds of capcli.Time.
type Instant int64

// InstantOf rounds a standard time down to the microsecond.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMicro()) }

// Std gives the instant as the standard library's time, in UTC.
func (i Instant) Std() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Stamp gives the instant in RFC 3339, to the millisecond.
func (i Instant) Stamp() string { return i.Std().Format("2006-01-02T15:04:05.000Z07:00") }

// Duration is the time since 1970 as a length of time.
func (i Instant) Duration() time.Duration { return time.Duration(i) * time.Microsecond }

// Second is the whole second that holds the instant.
func (i Instant) Second() capcli.Time {
	s := int64(i) / 1e6
	if int64(i)%1e6 < 0 {
		s--
	}
	return capcli.Time(s)
}

// Add gives the instant d later, to the microsecond.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Microsecond }

// Device is a GPU or, where one is divided by MIG, an instance of it. It does
// not change: a GPU that comes back different is another Device.
type Device struct {
	Index  int    // the driver's number of the GPU; may change when GPUs come and go
	UUID   string // of the GPU, or of the MIG instance
	Model  string // "NVIDIA H100 80GB HBM3"
	Bus    string // PCI address, "00000000:19:00.0"
	Driver string // version
	// Of an instance: the GPU that holds it, its profile ("1g.10gb") and its
	// numbers; the driver uses the numbers again at once. GI and CI are -1 for
	// a whole GPU.
	Parent  string
	Profile string
	GI, CI  int
	// What the GPU could do at most; 0 is not known.
	PeakMemBytesPerS float64 // device memory bandwidth
	MaxSMClockMHz    float64
	SMs              int
	// What its links carry at most in one direction, MiB/s; 0 is not known.
	PeakPCIeMiBPerS, PeakNVLinkMiBPerS float64
}

// MIG tells whether the device is an instance of a divided GPU.
func (d *Device) MIG() bool { return d.GI >= 0 }

// Sample is the metrics of one device at one tick. A value counts only where
// its reason is Known.
type Sample struct {
	Device *Device
	Values [NumMetrics]float64
	Why    [NumMetrics]Reason
}

// Set gives a metric a value, rounded to its resolution. What is not a finite
// number at all, or under 0, becomes OutOfRange: no metric can be negative.
func (s *Sample) Set(m Metric, v float64) { s.Values[m], s.Why[m] = Metrics[m].settle(v) }

// Miss records why a metric has no value.
func (s *Sample) Miss(m Metric, r Reason) { s.Values[m], s.Why[m] = 0, r }

// Get gives a metric's value; ok is false where there is none.
func (s *Sample) Get(m Metric) (v float64, ok bool) { return s.Values[m], s.Why[m] == Known }

// Answered reports whether the device answered at all. It did not where each metric is missing because
// the device was lost or the driver did not answer in time; what it did then is not known.
func (s *Sample) Answered() bool {
	for _, r := range s.Why {
		if r != Lost && r != Timeout {
			return true
		}
	}
	return false
}

// Clear forgets all values, for the reason r.
func (s *Sample) Clear(r Reason) {
	s.Values = [NumMetrics]float64{}
	for m := range s.Why {
		s.Why[m] = r
	}
}

// Process is a process that holds a context on a device at one tick.
type Process struct {
	Device  *Device
	PID     int64 // in the namespace of the host
	User    string
	Command string // name of the program and its first arguments, at most 256 bytes
	// Where it belongs, "" where not known.
	Container, Pod, Namespace, Job string
	Kind                           string // "compute", "graphics" or "mps"
	MemBytes                       float64
	MemWhy                         Reason
	SMPct                          float64 // of the device's SM time since the last look
	SMWhy                          Reason
	Start                          capcli.Time // of the process; NoTime where not known
}

// EventKind is the kind of an event.
type EventKind string

// The events.
const (
	Began       EventKind = "began"        // sampling
	Machine     EventKind = "machine"      // the box, told at the begin and each day; Text is its MachineID
	Ended       EventKind = "ended"        // sampling, in order
	GaveUp      EventKind = "gave_up"      // sampling, because the source cannot answer any more
	Recovered   EventKind = "recovered"    // what an earlier run left was saved; Value is bytes that were dropped
	Gap         EventKind = "gap"          // no samples from At on; Value is how long, in microseconds
	ClockJump   EventKind = "clock_jump"   // of the wall clock; Value is how far, in microseconds
	Slow        EventKind = "slow"         // a tick took too long; Value is microseconds
	GPULost     EventKind = "gpu_lost"     // fell off the bus
	GPUBack     EventKind = "gpu_back"     // is there again
	Stalled     EventKind = "stalled"      // its driver call does not return
	DriverGone  EventKind = "driver_gone"  // the driver was unloaded
	DriverBack  EventKind = "driver_back"  // or loaded again
	MIGChanged  EventKind = "mig_changed"  // the instances of a GPU are others
	Xid         EventKind = "xid"          // Value is NVIDIA's Xid number
	ECCError    EventKind = "ecc_error"    // not corrected
	DiskTrouble EventKind = "disk_trouble" // could not be written
	DayRemoved  EventKind = "day_removed"  // from the folder, by --keep; Value is its bytes
)

// Event is something that befell a device, or the sampling itself.
type Event struct {
	At     Instant
	Kind   EventKind
	Device string // UUID; "" is all
	Value  int64
	Text   string
}

// isGap reports whether nothing of the box was seen for the event's Value.
func (e *Event) isGap() bool { return e.Kind == Gap && e.Device == "" }

// Tick is all that one look at a box saw.
type Tick struct {
	At      Instant
	Elapsed time.Duration // since sampling began, by a clock that never jumps
	Every   time.Duration // the interval asked for
	Took    time.Duration // how long the look took
	Samples []Sample
	// Processes are there in ticks that looked at processes (LookedAtProcesses).
	Processes         []Process
	LookedAtProcesses bool
	Events            []Event
	// Host is there in ticks that looked at the box itself (LookedAtHost); Groups are the jobs whose
	// processes were looked at, and Readings what programs told of themselves.
	Host         HostSample
	LookedAtHost bool
	Groups       []GroupSample
	Readings     []Reading
}

func (t *Tick) hasAnswer() bool {
	return slices.ContainsFunc(t.Samples, func(s Sample) bool { return s.Answered() })
}

// Reset empties the tick, keeping its memory.
func (t *Tick) Reset() {
	*t = Tick{Samples: t.Samples[:0], Processes: t.Processes[:0], Events: t.Events[:0], Groups: t.Groups[:0], Readings: t.Readings[:0]}
}

// NextSample returns memory for the tick's next sample of d. All its metrics are
// NotAsked.
func (t *Tick) NextSample(d *Device) *Sample {
	s := next(&t.Samples)
	s.Device = d
	s.Clear(NotAsked)
	return s
}

// NextGroup returns memory for the tick's next figures of a job's processes. All are NotAsked.
func (t *Tick) NextGroup(o Owner) *GroupSample {
	s := next(&t.Groups)
	s.Owner = o
	s.Clear(NotAsked)
	return s
}

// next adds an entry to a list and returns it; where the list has memory to spare it holds what was there before.
func next[T any](list *[]T) *T {
	n := len(*list)
	*list = slices.Grow(*list, 1)[:n+1]
	return &(*list)[n]
}
