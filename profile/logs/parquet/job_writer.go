package parquet

import (
	"fmt"
	"io"

	"capcli"
	"capcli/profile/logs/trace"
)

// mostParts is the largest number of CPU thousandths and of MiB: up to there the floating-point
// columns hold them exactly.
const mostParts = 1 << 50

// JobWriter writes a job trace that trace.Open reads back exactly. DuckDB and pandas read it too.
// An unknown value (0 or "" in a Job) is null in a nullable column.
type JobWriter struct {
	t     *Table
	extra trace.Extra
	n     int // columns before those of tags
}

// NewJobWriter starts a file on w with the columns of every job file and those of extra. meta is
// added to its metadata, as in NewTable.
func NewJobWriter(w io.Writer, meta map[string]string, extra trace.Extra) (*JobWriter, error) {
	var columns []Column
	for i, want := range wants {
		if i >= colEligible && !extra.Has(want.name) {
			continue
		}
		c := Column{Name: want.name, Nullable: true}
		switch {
		case want.what == texts:
			c.Kind, c.Repeats = Text, i != colID
		case want.time:
			c.Kind = Instant
		case i == colGPUs, i == colMilli, i == colPriority:
			c.Kind = Int32
		case i == colCPUs, i == colMem, i == colGPUMem:
			c.Kind = Float64
		default:
			c.Kind = Int64
		}
		switch i {
		case colID, colGPUs, colSubmit, colRun, colPriority:
			c.Nullable = false
		}
		columns = append(columns, c)
	}
	n := len(columns)
	for _, tag := range extra.Tags {
		columns = append(columns, Column{Name: trace.TagColumn(tag), Nullable: true, Kind: Text, Repeats: true})
	}
	t, err := NewTable(w, columns, meta)
	if err != nil {
		return nil, err
	}
	return &JobWriter{t, extra, n}, nil
}

// Write adds one job. It fails for a job whose CPU or memory could not be read back exactly, and as
// trace.Extra.Check where the file has no column for its eligible time or for a tag.
func (w *JobWriter) Write(job capcli.Job) error {
	t, eligible := w.t, job.Eligible
	if err := w.check(&job); err != nil {
		return err
	}
	if err := w.extra.Check(&job); err != nil {
		return err
	}
	if eligible <= job.Submit {
		eligible = capcli.NoTime
	}
	t.Text(colID, job.ID)
	w.text(colTenant, job.Tenant)
	w.text(colPartition, job.Partition)
	w.text(colModel, job.GPUModel)
	w.text(colClass, job.Class)
	w.text(colState, job.State)
	t.Int(colGPUs, int64(job.GPUs))
	w.int(colMilli, int64(job.GPUMilli))
	w.parts(colCPUs, job.CPUMilli, 1000)
	w.parts(colMem, job.MemMiB, 1024)
	t.Time(colSubmit, job.Submit)
	t.Time(colStart, job.Start)
	t.Time(colEnd, job.End)
	t.Time(colDeadline, job.Deadline)
	t.Int(colRun, int64(job.Run))
	w.int(colLimit, int64(job.Limit))
	t.Int(colPriority, int64(job.Priority))
	if w.extra.Has("eligible") {
		t.Time(colEligible, eligible)
	}
	if w.extra.GPUMem {
		w.parts(colGPUMem, job.GPUMemMiB, 1024)
	}
	if w.extra.Stages {
		w.stage(job.Stage)
	}
	for i, tag := range w.extra.Tags {
		w.text(w.n+i, job.Tags.Value(tag))
	}
	return t.Next()
}

func (w *JobWriter) check(job *capcli.Job) error {
	if job.CPUMilli > mostParts || job.CPUMilli < -mostParts || job.MemMiB > mostParts || job.MemMiB < -mostParts || job.GPUMemMiB > mostParts || job.GPUMemMiB < -mostParts {
		return fmt.Errorf("writing parquet: job %q: %d thousandths of a CPU or %d MiB: over the limit of %d",
			job.ID, job.CPUMilli, job.MemMiB, int64(mostParts))
	}
	return nil
}

// stage writes the place of a job in a workflow in the last columns before those of tags.
func (w *JobWriter) stage(s *capcli.Stage) {
	if s == nil {
		s = &capcli.Stage{}
	}
	for i, text := range []string{trace.FormatDependencies(s), s.Workflow, s.Name} {
		w.text(w.n-3+i, text)
	}
}

func (w *JobWriter) text(col int, s string) {
	if s == "" {
		w.t.Null(col)
		return
	}
	w.t.Text(col, s)
}

func (w *JobWriter) int(col int, v int64) {
	if v == 0 {
		w.t.Null(col)
		return
	}
	w.t.Int(col, v)
}

func (w *JobWriter) parts(col int, v int64, of float64) {
	if v == 0 {
		w.t.Null(col)
		return
	}
	w.t.Float(col, float64(v)/of)
}

// Close writes the end of the file. It does not close the underlying writer.
func (w *JobWriter) Close() error { return w.t.Close() }
