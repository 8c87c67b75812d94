package trace

import (
	"fmt"

	"capcli"
)

// times sets Submit, Start and End of job. It returns the reason for a rejection, such as a
// time in an hour that did not exist, or "". It fails where a time has no zone and Options.TZ
// is nil.
func (s *sacct) times(job *capcli.Job) (reason string, err error) {
	var at [3]moment
	for i, f := range [...]struct {
		col  int
		name string
	}{{s.c.submit, "Submit"}, {s.c.start, "Start"}, {s.c.end, "End"}} {
		cell := trim(blankIfUnknown(s.t.cell(f.col)))
		m, bad := s.clock.read(cell)
		switch {
		case bad == noZone:
			return "", s.noZone(f.name, cell)
		case bad == eitherOrder:
			return "", s.r.datesFault(s.t.line, f.name, cell)
		case bad == gapHour:
			return string(gapHour) + ", " + string(cell[:10]), nil
		case bad != flawless:
			return f.name + ": " + string(bad), nil
		}
		if m.at == 0 { // old versions write Unknown as 0
			m = noMoment
		}
		if m.unit > 1 && s.clock.unit == 0 {
			s.r.NoteUnit(m.unit)
		}
		at[i] = m
	}
	s.settle(&at)
	job.Submit, job.Start, job.End = at[0].at, at[1].at, at[2].at
	if !job.Submit.IsKnown() {
		return "Submit: missing", nil
	}
	job.Eligible = s.eligible(job)
	return "", nil
}

// eligible returns when job became eligible, or NoTime where the row does not say it. Of a time in a
// repeated hour it takes the pass that lies between the submit and the start, if only one does.
func (s *sacct) eligible(job *capcli.Job) capcli.Time {
	m, bad := s.clock.read(trim(blankIfUnknown(s.t.cell(s.c.eligible))))
	switch {
	case bad != flawless:
		s.r.Assume("Eligible: " + string(bad) + ": taken as eligible at its submit")
		return capcli.NoTime
	case m.at == 0: // old versions write Unknown as 0
		return capcli.NoTime
	}
	lies := func(at capcli.Time) bool { return at >= job.Submit && (!job.Start.IsKnown() || at <= job.Start) }
	if m.other.IsKnown() && lies(m.other) && !lies(m.at) {
		return m.other
	}
	return m.at
}

// settle chooses the pass of each time in a repeated hour. It takes the other pass where the
// default one puts Start before Submit or End before Start, or contradicts the logged elapsed
// time. Otherwise it keeps the default pass and counts the assumption.
func (s *sacct) settle(at *[3]moment) {
	for i := range at {
		if !at[i].other.IsKnown() {
			continue
		}
		swap := i > 0 && at[i-1].at.IsKnown() && at[i].at < at[i-1].at && at[i].other >= at[i-1].at
		if !swap && i == 2 && at[1].at.IsKnown() {
			swap = s.ranFor(at[1].at, at[2].other) && !s.ranFor(at[1].at, at[2].at)
		}
		if !swap && i == 1 && at[2].at.IsKnown() && !at[2].other.IsKnown() {
			swap = at[1].at > at[2].at || s.ranFor(at[1].other, at[2].at) && !s.ranFor(at[1].at, at[2].at)
		}
		if swap {
			at[i].at, at[i].other = at[i].other, at[i].at
			continue
		}
		s.r.Assume(s.r.repeatedNote(at[i].at))
	}
}

// ranFor reports whether the time from start to end is the elapsed time of the row.
func (s *sacct) ranFor(start, end capcli.Time) bool {
	elapsed, ok, _ := s.elapsed()
	return ok && capcli.Seconds(end-start) == elapsed
}

// noZone returns the error for a dump in local time whose zone is not known.
func (s *sacct) noZone(field string, value []byte) error {
	if s.now {
		return s.r.fault(s.t.line, field, "the times have no zone, and squeue prints local time (found "+shorten(value)+")",
			"say where the cluster's clock was, with --tz Europe/Berlin, or "+squeueHint)
	}
	date := "2024-01-01"
	if len(value) >= 10 {
		date = string(value[:10])
	}
	return s.r.fault(s.t.line, field, fmt.Sprintf("the times have no zone, and sacct prints local time (found %s)", shorten(value)),
		fmt.Sprintf("say where the cluster's clock was:\n"+
			"  capcli import sacct %s --tz Europe/Berlin --out jobs.parquet\n"+
			"or export again with zones:\n"+
			"  SLURM_TIME_FORMAT=%%s sacct -a -P -D --starttime %s …", s.r.in.Name, date))
}
