package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"capcli"
)

// Input is a file or a stream. Formats read as a stream need only R; a format
// that jumps about (parquet) needs At and Size, and R may then be nil.
type Input struct {
	Name string // for messages
	R    io.Reader
	At   io.ReaderAt
	Size int64
}

// Opener opens an input by its name. The caller closes it after the last job.
type Opener func(name string) (Input, io.Closer, error)

// ReadFile returns at most limit bytes of an input, as they are.
func (open Opener) ReadFile(name string, limit int64) ([]byte, error) {
	in, done, err := open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	b, err := io.ReadAll(io.LimitReader(in.R, limit))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return b, nil
}

// Options say how to read. The zero value sniffs everything.
type Options struct {
	Format   string            // name in Formats; "" is sniffed
	TZ       *time.Location    // zone of times that have none; nil refuses them where guessing could be wrong (sacct, csv, jsonl)
	DSTLater bool              // in a repeated hour take the second pass, not the first
	Map      map[string]string // our column name -> their header (csv, jsonl, parquet; tenant, partition and class also for sacct)
	Columns  []string          // names of the columns of a sacct dump without a header: the list given to --format
	AllowCut bool              // take what is there of an input that was cut short; Report.Cut says so
	Rejects  func(Reject)      // called for each rejected row, in order; nil only counts them
}

// Reject is one row that was not taken.
type Reject struct {
	Line   int // from 1, in the decompressed text
	Reason string
	Text   string // the row as it stood
}

// Count is a reason and how many rows it was given for.
type Count struct {
	Reason string `json:"reason"`
	N      int64  `json:"rows"`
}

// Tally says what became of every row of a log. Rows = Kept + Folded + Rejected.
type Tally struct {
	Format   string  `json:"format"`           // name in Formats
	Rows     int64   `json:"rows"`             // rows of data, without headers, comments and blank lines
	Kept     int64   `json:"kept"`             // jobs given out
	Folded   int64   `json:"folded"`           // rows that are part of another job: steps, earlier attempts
	Rejected int64   `json:"rejected"`         // rows not taken, for the Reasons
	Reasons  []Count `json:"rejected_because"` // why rows were rejected: most first, then by reason
	Assumed  []Count `json:"assumed"`          // what was taken for granted, in the same order
}

// Report says what was read of a log.
type Report struct {
	Tally
	MachineGPUs *int64      `json:"machine_gpus"` // size of the machine that the log names (SWF MaxProcs); nil is unknown
	Cut         bool        `json:"partial"`      // the input was cut short
	Notes       []string    `json:"notes"`        // what else the user should know
	First, Last capcli.Time `json:"-"`            // earliest and latest submit of the kept jobs; NoTime when none was kept
	Unsorted    bool        `json:"-"`            // submits go back in time somewhere
}

// Remarks says in words what a reader of a result must know about the log.
func (r *Report) Remarks() []string {
	var out []string
	if r.Rejected > 0 {
		var why []string
		for i, c := range r.Reasons {
			if i == 3 {
				why = append(why, "…")
				break
			}
			why = append(why, fmt.Sprintf("%s: %s", capcli.Grouped(c.N), c.Reason))
		}
		out = append(out, fmt.Sprintf("%s of %s rows are not in this (%s); capcli import lists them",
			capcli.Grouped(r.Rejected), capcli.Grouped(r.Rows), strings.Join(why, "; ")))
	}
	for _, c := range r.Assumed {
		out = append(out, fmt.Sprintf("%s %s: %s", capcli.Grouped(c.N), capcli.Plural(c.N, "job"), c.Reason))
	}
	return append(out, r.Notes...)
}

// Format is one kind of job log.
type Format struct {
	// Sniff tells whether a file that begins with head is of this kind. At
	// most one format may say yes. Nil is never sniffed.
	Sniff func(head []byte) bool
	// Read gives every row to r.Keep, r.Fold or r.Reject, and returns when the
	// input ends, when Keep or Reject returns false, or with a structural fault.
	Read func(r *Reader) error
	// Binary formats are not held to being text.
	Binary bool
	// Mapped formats take Options.Map.
	Mapped bool
}

// Formats are the kinds of job log that can be read.
var Formats = capcli.Catalog[Format]{Kind: "trace format"}

// Columns are the names of our own columns, in the order they are written:
// csv, jsonl and parquet share them. Instants are whole seconds, run_s and
// limit_s are seconds, gpus and cpus may be fractions, mem_gb is GiB.
var Columns = []string{
	"job_id", "tenant", "partition", "gpu_model", "gpus", "cpus", "mem_gb", "class",
	"submit", "start", "end", "run_s", "limit_s", "priority", "deadline", "state",
}

// Sorted gives jobs in order of Submit; jobs with one Submit stay in the order
// they came in. A stream that is in order already passes through at the cost
// of holding it.
func Sorted(jobs capcli.Jobs) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		var held store
		for job, err := range jobs {
			if err != nil {
				yield(capcli.Job{}, err)
				return
			}
			held.add(&job)
		}
		for _, i := range held.bySubmit() {
			if !yield(*held.job(i), nil) {
				return
			}
		}
	}
}

// store holds jobs in blocks, so that growing copies nothing.
type store struct {
	blocks [][]capcli.Job
	n      int
	sorted bool
}

const storeBlock = 4096

func (s *store) add(job *capcli.Job) {
	if s.n == 0 {
		s.sorted = true
	} else if job.Submit < s.job(s.n-1).Submit {
		s.sorted = false
	}
	if s.n%storeBlock == 0 {
		s.blocks = append(s.blocks, make([]capcli.Job, 0, storeBlock))
	}
	last := len(s.blocks) - 1
	s.blocks[last] = append(s.blocks[last], *job)
	s.n++
}

func (s *store) job(i int) *capcli.Job { return &s.blocks[i/storeBlock][i%storeBlock] }

func (s *store) bySubmit() []int {
	order := make([]int, s.n)
	for i := range order {
		order[i] = i
	}
	if !s.sorted {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(s.job(a).Submit, s.job(b).Submit)
		})
	}
	return order
}

// counts turns a tally into a list: most first, then by reason.
func counts(tally map[string]int64) []Count {
	out := make([]Count, 0, len(tally))
	for reason, n := range tally {
		out = append(out, Count{reason, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Reason, b.Reason))
	})
	return out
}
