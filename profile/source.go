package profile

import (
	"context"
	"io"
	"time"

	"capcli"
)

// Source looks at the GPUs of a box.
type Source interface {
	// Read adds to t what is seen now: samples, processes and events. It finds
	// the times of t set, and a recording sets them to its own. It allocates
	// nothing in the steady state and returns by ctx's deadline: a device that
	// does not answer has samples with Timeout. It fails only where nothing at
	// all can be seen any more; io.EOF is the end of a recording. Calls do not
	// overlap.
	Read(ctx context.Context, t *Tick) error
	// Host names the box.
	Host() string
	Close() error
}

// GoneError is the error of a source that cannot answer any more in this process, although it may
// in another: the driver was replaced, and a process stays bound to the library that it loaded
// first. It ends the run of a Sampler, so that a service manager starts the program again.
type GoneError struct {
	Text string // what is gone
	Hint string // what to do
}

func (e *GoneError) Error() string { return e.Text }

// SourceOptions are what a source is opened with.
type SourceOptions struct {
	Every     time.Duration // between reads
	Processes time.Duration // between looks at processes; 0 is never
	Where     string        // a URL, a file or a library, as the source says
	Seed      capcli.Seed   // of a source that makes its figures up
	// Fetch opens what a source reads: for "dcgm" a URL or the name of a file,
	// for "smi" the arguments of nvidia-smi, separated by spaces.
	Fetch func(ctx context.Context, what string) (io.ReadCloser, error)
	// Range asks a Prometheus server what a query gave over a time, of which it
	// gives the points that are there.
	Range func(ctx context.Context, query string, from, to capcli.Time, step capcli.Seconds) ([]Range, error)
	Host  string         // of a source that has several boxes: the one; "" is all, or the only one
	From  Instant        // of a source that has a past: its beginning; 0 is open
	To    Instant        // and the end, which is not part of it; 0 is open
	Slow  bool           // also what takes the driver long, such as PCIe throughput
	Zone  *time.Location // of times in a recording that has none; nil refuses them
	// JobDir is a directory of files named by GPU number, with the job on it; ""
	// is none.
	JobDir string
}

// Range is a series that a Prometheus server told.
type Range struct {
	Labels map[string]string
	At     []capcli.Time // in order
	Values []float64     // as many; no NaN, but blanks of DCGM as they are
}

// Sources are where samples come from, by name.
var Sources = capcli.Catalog[func(SourceOptions) (Source, error)]{Kind: "source"}

// Sink keeps ticks.
type Sink interface {
	// Write keeps a tick; when it returns, killing the program no longer loses it.
	Write(t *Tick) error
	Close() error
}

// Clock is the time that a Sampler goes by.
type Clock interface {
	// Now gives the wall clock and a clock that never jumps.
	Now() (Instant, time.Duration)
	// Wait returns at until of the second clock, or when ctx ends.
	Wait(ctx context.Context, until time.Duration) error
	// After sends once d has passed.
	After(d time.Duration) <-chan time.Time
}
