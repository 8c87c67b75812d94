package trace

import (
	"capcli"
)

// The indices of our columns in Columns.
const (
	colID = iota
	colTenant
	colPartition
	colModel
	colGPUs
	colCPUs
	colMem
	colClass
	colSubmit
	colStart
	colEnd
	colRun
	colLimit
	colPriority
	colDeadline
	colState
	colEligible // these are last: a file without them has the same columns as before
	colGPUMem
	colAfter
	colWorkflow
	colStage
	numColumns
)

// record converts the cells of a row under our column names into a job. A nil cell means
// that the column is missing.
type record struct {
	r     *Reader
	clock clock
	ids   arena
	names [numColumns]names
	tags  *capcli.Tags // of the row
}

func newRecord(r *Reader) *record { return &record{r: r, clock: r.newClock()} }

// keep converts cells to a job and passes it to Reader.Keep, or rejects the row. row is
// the number of the row, from 1; it becomes the id of a job without an id. keep reports
// whether reading goes on. It fails where a time has no zone and Options.TZ is nil.
func (d *record) keep(line int, row int64, raw []byte, cells *[numColumns][]byte) (bool, error) {
	job := capcli.Job{Eligible: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime, Deadline: capcli.NoTime, Tags: d.tags}
	if col, bad := d.numbers(&job, cells); bad != flawless {
		return d.r.Reject(line, raw, Columns[col]+": "+string(bad)), nil
	}
	if col, bad := d.times(&job, cells); bad == noZone {
		return false, d.r.noZone(line, Columns[col], cells[col])
	} else if bad == eitherOrder {
		return false, d.r.datesFault(line, Columns[col], cells[col])
	} else if bad == gapHour {
		return d.r.Reject(line, raw, string(gapHour)+", "+string(trim(cells[col])[:10])), nil
	} else if bad != flawless {
		return d.r.Reject(line, raw, Columns[col]+": "+string(bad)), nil
	}
	if bad := d.run(&job, cells); bad != "" {
		return d.r.Reject(line, raw, bad), nil
	}
	if id := trim(cells[colID]); len(id) > 0 {
		job.ID = d.ids.copyString(id)
	} else {
		job.ID = d.ids.number(row)
	}
	job.Tenant = d.names[colTenant].intern(trim(cells[colTenant]))
	job.Partition = d.names[colPartition].intern(trim(cells[colPartition]))
	job.GPUModel = d.names[colModel].intern(trim(cells[colModel]))
	job.Class = d.names[colClass].intern(trim(cells[colClass]))
	job.State = d.names[colState].intern(trim(cells[colState]))
	stage, err := d.stage(cells)
	if err != nil {
		return d.r.Reject(line, raw, Columns[colAfter]+": "+err.Error()), nil
	}
	job.Stage = stage
	return d.r.Keep(line, raw, &job), nil
}

// stage returns the place of a job in a workflow; nil if it has none.
func (d *record) stage(cells *[numColumns][]byte) (*capcli.Stage, error) {
	after, workflow, stage := trim(cells[colAfter]), trim(cells[colWorkflow]), trim(cells[colStage])
	if len(after)+len(workflow)+len(stage) == 0 {
		return nil, nil
	}
	return ReadStage(string(after), d.names[colWorkflow].intern(workflow), d.names[colStage].intern(stage))
}

// numbers sets the numeric fields of job. An empty cell is unknown, except for gpus, which
// must be there. It returns the first faulty column and its flaw.
func (d *record) numbers(job *capcli.Job, cells *[numColumns][]byte) (col int, bad flaw) {
	if job.GPUs, job.GPUMilli, bad = parseGPUs(cells[colGPUs]); bad != flawless {
		return colGPUs, bad
	}
	if job.CPUMilli, bad = optional(cells[colCPUs], 1000); bad != flawless {
		return colCPUs, bad
	}
	if job.MemMiB, bad = optional(cells[colMem], 1024); bad != flawless {
		return colMem, bad
	}
	if job.GPUMemMiB, bad = optional(cells[colGPUMem], 1024); bad != flawless {
		return colGPUMem, bad
	}
	limit, bad := optional(cells[colLimit], 1)
	if bad != flawless {
		return colLimit, bad
	}
	job.Limit = capcli.Seconds(limit)
	if p := cells[colPriority]; len(trim(p)) > 0 {
		n, _, bad := fixed(p, 1)
		if bad != flawless {
			return colPriority, bad
		}
		job.Priority = int(n)
	}
	return 0, flawless
}

// optional reads a non-negative number and returns it times scale; an empty cell is 0.
func optional(b []byte, scale int64) (int64, flaw) {
	if len(b) == 0 || len(trim(b)) == 0 {
		return 0, flawless
	}
	n, _, bad := fixed(b, scale)
	if bad == flawless && n < 0 {
		bad = negative
	}
	return n, bad
}

// times sets the submit, start, end, deadline and eligible time of job. It returns the first faulty column
// and its flaw.
func (d *record) times(job *capcli.Job, cells *[numColumns][]byte) (col int, bad flaw) {
	for _, c := range [...]struct {
		col int
		to  *capcli.Time
	}{{colSubmit, &job.Submit}, {colStart, &job.Start}, {colEnd, &job.End}, {colDeadline, &job.Deadline}, {colEligible, &job.Eligible}} {
		if len(cells[c.col]) == 0 {
			*c.to = capcli.NoTime
			continue
		}
		cell := cells[c.col]
		if c.col != colSubmit {
			cell = blankIfAbsent(cell)
		}
		m, bad := d.clock.read(cell)
		if bad != flawless {
			return c.col, bad
		}
		d.r.noteMoment(m)
		*c.to = m.at
	}
	return 0, flawless
}

// blankIfAbsent returns nil for a word with which programs write a missing time, else b.
// NaN is not such a word: it is a fault of the program that wrote the file.
func blankIfAbsent(b []byte) []byte {
	switch string(b) {
	case "None", "null", "NULL", "Unknown", "N/A":
		return nil
	}
	return b
}

// run sets the run time of job: the cell run_s, or the time from start to end where that
// cell is empty. It returns the reason for a rejection, or "".
func (d *record) run(job *capcli.Job, cells *[numColumns][]byte) (reason string) {
	if cell := trim(cells[colRun]); len(cell) > 0 {
		n, whole, bad := fixed(cell, 1)
		if bad != flawless {
			return Columns[colRun] + ": " + string(bad)
		}
		if !whole {
			d.r.Assume("fractions of a second: rounded to the nearest")
		}
		job.Run = capcli.Seconds(n)
		return ""
	}
	if !job.Start.IsKnown() || !job.End.IsKnown() {
		return "run_s: missing, and start and end do not give it"
	}
	if job.End < job.Start {
		return "end before start"
	}
	job.Run = capcli.Seconds(job.End - job.Start)
	return ""
}

// repeatedNote returns the assumption about a time in a repeated hour, for Assume.
func (r *Reader) repeatedNote(at capcli.Time) string {
	pass := "first pass"
	if r.o.DSTLater {
		pass = "second pass"
	}
	return "time in a repeated hour, " + at.Std().In(r.o.TZ).Format("2006-01-02") + ": " + pass
}

// noZone returns the error for a log whose times have no zone.
func (r *Reader) noZone(line int, field string, value []byte) error {
	return r.fault(line, field, "the times have no zone (found "+shorten(value)+")",
		"say where the clock was, with --tz Europe/Berlin or --tz UTC, or export seconds since 1970")
}
