package trace

import (
	"strings"

	"capcli"
)

// tableFormat is a format in which each row of a table is one job.
type tableFormat struct {
	needs   []string                                // required columns
	sniff   func(head []byte) bool                  // as Format.Sniff; nil checks that the header has all of needs
	prepare func(t *tableReader, head []byte) error // called after the header is read; may be nil
	lifts   bool                                    // a run time of 0 becomes 1 s
	columns []column                                // read in this order; the first flaw rejects the row
}

// column says how a column of a table sets a field of a job.
type column struct {
	name string // one name, or several separated by |, of which the first in the header is used; "" reads no column
	read func(r *tableReader, job *capcli.Job, cell []byte) flaw
}

// tableReader reads the rows of a table as jobs.
type tableReader struct {
	*table
	zone  *zoned
	ids   arena
	names []names  // interned texts, by column
	at    int      // index of the column being read
	scale int64    // seconds in the table's unit of time
	kept  [2]int64 // values of the row that a format keeps for a later column
}

func addTable(name, doc string, f tableFormat) {
	if f.sniff == nil {
		f.sniff = func(head []byte) bool { return headHas(head, f.needs...) }
	}
	Formats.Add(name, doc, Format{Sniff: f.sniff, Read: f.read, Tagged: true})
}

func (f *tableFormat) read(r *Reader) error {
	t := &tableReader{zone: newZoned(r), names: make([]names, len(f.columns)), scale: 1}
	head := r.text.Head(HeadBytes)
	var err error
	if t.table, err = newTable(r, capcli.Fields{}); err != nil {
		return err
	}
	if f.prepare != nil {
		if err := f.prepare(t, head); err != nil {
			return err
		}
	}
	if err := t.need(f.needs...); err != nil {
		return err
	}
	if err := t.findTags(nil); err != nil {
		return err
	}
	places := make([]int, len(f.columns))
	for i, c := range f.columns {
		places[i] = t.col(strings.Split(c.name, "|")...)
	}
	for t.nextRow() {
		if !f.row(t, places) {
			return nil
		}
	}
	return nil
}

// row yields the job of the current row, or rejects the row. places are the indices of the
// columns in the header, -1 where a column is missing. It reports whether reading goes on.
func (f *tableFormat) row(t *tableReader, places []int) bool {
	job := capcli.Job{Eligible: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Tags: t.tags.Row(t.Row)}
	for i, c := range f.columns {
		t.at = i
		if bad := c.read(t, &job, t.cell(places[i])); bad != flawless {
			name, _, _ := strings.Cut(c.name, "|")
			return t.take(nil, name, bad)
		}
	}
	if f.lifts {
		job.Run = t.r.lift(job.Run)
	}
	return t.take(&job, "", flawless)
}

// The functions below read columns that several formats share. The cell is empty where the
// header lacks the column.

func readSubmit(t *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.Submit, bad = t.zone.read(cell)
	return bad
}

func readSubmitOrUnknown(t *tableReader, job *capcli.Job, cell []byte) flaw {
	return readSubmit(t, job, blankIfUnknown(cell))
}

func readStart(t *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.Start, bad = t.zone.read(blankIfUnknown(cell))
	return bad
}

func readEnd(t *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.End, bad = t.zone.read(blankIfUnknown(cell))
	return bad
}

func readRun(t *tableReader, job *capcli.Job, cell []byte) flaw {
	n, _, bad := fixed(cell, t.scale)
	job.Run = capcli.Seconds(n)
	return bad
}

func readGPUs(_ *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.GPUs, job.GPUMilli, bad = parseGPUs(cell)
	return bad
}

func readCPUs(_ *tableReader, job *capcli.Job, cell []byte) (bad flaw) {
	job.CPUMilli, bad = optional(cell, 1000)
	return bad
}

func readLimit(_ *tableReader, job *capcli.Job, cell []byte) flaw {
	n, bad := optional(cell, 1)
	job.Limit = capcli.Seconds(n)
	return bad
}

func readID(t *tableReader, job *capcli.Job, cell []byte) flaw {
	job.ID = t.ids.copyString(cell)
	return flawless
}

// readIDOrRow sets the id of a job; a job without an id gets the number of its row, from 1.
func readIDOrRow(t *tableReader, job *capcli.Job, cell []byte) flaw {
	if job.ID = t.ids.copyString(cell); job.ID == "" {
		job.ID = t.ids.number(t.rows)
	}
	return flawless
}

// These read the texts of a job.
var (
	readTenant    = readText(func(job *capcli.Job) *string { return &job.Tenant })
	readPartition = readText(func(job *capcli.Job) *string { return &job.Partition })
	readModel     = readText(func(job *capcli.Job) *string { return &job.GPUModel })
	readClass     = readText(func(job *capcli.Job) *string { return &job.Class })
	readState     = readText(func(job *capcli.Job) *string { return &job.State })
)

func readText(of func(job *capcli.Job) *string) func(*tableReader, *capcli.Job, []byte) flaw {
	return func(t *tableReader, job *capcli.Job, cell []byte) flaw {
		*of(job) = t.intern(cell)
		return flawless
	}
}

// intern returns the shared copy of a text in the current column.
func (t *tableReader) intern(text []byte) string { return t.names[t.at].intern(text) }
