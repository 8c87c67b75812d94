package trace

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"capcli"
)

// Input is a file or a stream. Most formats are read as a stream and need only R. A
// format that needs random access (parquet) reads At and Size; R may then be nil.
type Input struct {
	Name string      // for messages
	R    io.Reader   // the content as a stream
	At   io.ReaderAt // random access to the content; nil for a stream
	Size int64       // bytes of At
}

// Opener opens an input by its name. The caller closes it after the last job.
type Opener func(name string) (Input, io.Closer, error)

// ReadFile returns the first limit bytes of an input, without decompressing them. It
// fails where the input cannot be opened or read.
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

// Options say how to read a log. The zero value detects the format.
type Options struct {
	Format     string            // name in Formats; "" detects the format
	TZ         *time.Location    // zone of times without a zone; nil rejects such times in sacct, csv and jsonl, and means UTC elsewhere
	DSTLater   bool              // a time in a repeated hour is in the second pass, not in the first
	Unit       int64             // units of times that are numbers, per second; 0 tells them from their size
	Dates      capcli.DateOrder  // of dates whose year comes last; UnknownOrder tells it from the dates
	Map        map[string]string // our column name -> their header (csv, jsonl, parquet; tenant, partition and class also for sacct)
	Tags       []TagWish         // tags to read; none reads those in columns called tag_NAME
	Columns    []string          // column names of a sacct dump without a header: the list given to sacct --format
	AllowCut   bool              // accept a truncated input and read what is there; Report.Cut is then set
	Aliases    bool              // csv: read the columns job and limit, where ours are missing, as job_id and limit_s; a note says so
	ZeroRuns   bool              // swf: keep jobs that held processors for 0 s; else they are rejected
	Rejects    func(Reject)      // called for each rejected row, in order; nil only counts them
	More       []Input           // inputs that are read together with the first, for a format that is Several
	Tables     func(Table)       // called for each further table that a format derives; may be nil
	TablesOnly bool              // the jobs are not wanted: an input with tables needs none

	// Waits is called for each waiting job of squeue with Slurm's reason, "" where it tells none. nil leaves out the
	// waiting jobs without a limit, whose run time is unknown.
	Waits func(job, reason string)
}

// Table is a table that a format derives beside its jobs. The first row is the header.
type Table struct {
	Name string
	Rows [][]string
}

// CSV returns the table as CSV.
func (t *Table) CSV() []byte {
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(t.Rows) // a buffer never fails
	return b.Bytes()
}

// Reject is one rejected row.
type Reject struct {
	Line   int // from 1, in the decompressed text
	Reason string
	Text   string // the row as it is in the file
}

// Count is a reason and the number of rows with this reason.
type Count struct {
	Reason string `json:"reason"`
	N      int64  `json:"rows"`
}

// Tally counts the rows of a log by what became of them. Rows = Kept + Folded + Rejected.
type Tally struct {
	Format   string  `json:"format"`           // name in Formats
	Rows     int64   `json:"rows"`             // rows of data, without headers, comments and blank lines
	Kept     int64   `json:"kept"`             // rows that are jobs
	Folded   int64   `json:"folded"`           // rows that are part of another row's job: steps, earlier attempts
	Rejected int64   `json:"rejected"`         // rows that cannot be jobs
	Reasons  []Count `json:"rejected_because"` // reasons of the rejected rows: highest count first, then by reason
	Assumed  []Count `json:"assumed"`          // assumptions about kept jobs, in the same order
}

// Report says what a Reader read.
type Report struct {
	Tally
	MachineGPUs *int64      `json:"machine_gpus"` // size of the machine as the log states it (SWF MaxProcs); nil if it does not
	Cut         bool        `json:"partial"`      // the input is truncated
	Notes       []string    `json:"notes"`        // further remarks for the user
	First, Last capcli.Time `json:"-"`            // earliest and latest submit of the kept jobs; NoTime when no job was kept
	Unsorted    bool        `json:"-"`            // some job was submitted before the job that precedes it in the log
	AsOf        capcli.Time `json:"-"`            // when squeue printed it, by the jobs that run; NoTime for another log
}

// Remarks returns sentences for the reader of a result: the rejected rows with their
// three most frequent reasons, the assumptions, and the notes.
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
		out = append(out, fmt.Sprintf("%s of %s rows are left out (%s); capcli import lists them",
			capcli.Grouped(r.Rejected), capcli.Grouped(r.Rows), strings.Join(why, "; ")))
	}
	for _, c := range r.Assumed {
		out = append(out, fmt.Sprintf("%s %s: %s", capcli.Grouped(c.N), capcli.Plural(c.N, "job"), c.Reason))
	}
	return append(out, r.Notes...)
}

// Format is one format of job logs.
type Format struct {
	// Sniff reports whether a file that begins with head has this format. At most one
	// format may return true for a file. A format with a nil Sniff must be named.
	Sniff func(head []byte) bool
	// Read passes every row to r.Keep, r.Fold or r.Reject. It returns nil when the input
	// ends or when Keep or Reject returns false, and an error where the file cannot be
	// a log.
	Read func(r *Reader) error
	// Binary says that the content need not be text.
	Binary bool
	// Mapped says that the format uses Options.Map.
	Mapped bool
	// Tagged says that the format reads Options.Tags.
	Tagged bool
	// Several says that the format reads several inputs together: Options.More.
	Several bool
	// Tables are the names of the tables that the format derives beside its jobs.
	Tables []string
}

// Formats are the formats of job logs that can be read.
var Formats = capcli.Catalog[Format]{Kind: "trace format"}

// Columns are the names of capcli's own columns, in the order in which they are written.
// The formats csv, jsonl and parquet share them. Times are whole seconds since 1970,
// run_s and limit_s are seconds, gpus and cpus may be fractions, mem_gb is in GiB, gpu_mem_gb too, of each
// GPU. eligible and gpu_mem_gb are written only where some job has them.
var Columns = []string{
	"job_id", "tenant", "partition", "gpu_model", "gpus", "cpus", "mem_gb", "class",
	"submit", "start", "end", "run_s", "limit_s", "priority", "deadline", "state", "eligible", "gpu_mem_gb",
	"after", "workflow", "stage",
}

// Sorted yields jobs in order of Submit. Jobs with the same Submit keep their order. It
// holds all jobs in memory, even where they are in order already. An error in jobs ends
// the stream before any job is yielded.
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

// store holds jobs in blocks, so that it grows without copying them.
type store struct {
	blocks [][]capcli.Job
	n      int  // jobs held
	sorted bool // the jobs are in order of Submit
}

// storeBlock is the number of jobs in a block.
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

// bySubmit returns the indices of the jobs in order of Submit.
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

// counts returns a tally as a list: highest count first, then by reason.
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
