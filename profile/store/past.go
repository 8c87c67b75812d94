package store

import (
	"iter"
	"path"
	"strconv"

	"capcli/profile"
)

// WriteHours writes the sums by hour of a host, of which nothing more is known, into a recording: neither samples nor
// minutes. Days with other files of the host are not to be among them. spans come day by day. The table ticks has one
// tick for each hour.
func WriteHours(disk Disk, root, host, program string, spans iter.Seq[*profile.Span]) error {
	l := &listing{disk: disk, root: root, host: host}
	w := hoursWriter{l: l, program: program}
	for s := range spans {
		if day := s.Hour - s.Hour%oneDay; w.rows.block == nil || day != w.day {
			if err := w.write(); err != nil {
				return err
			}
			w.day, w.rows, w.ticks = day, hourRows{block: newBlock(hours), holders: &holderWords{words: map[string]string{}}}, [24]int64{}
		}
		w.rows.span(s)
		n := &w.ticks[(s.Hour-w.day)/oneHour]
		*n = max(*n, s.Samples)
	}
	return w.write()
}

// hoursWriter writes the hours of one day after another.
type hoursWriter struct {
	l       *listing
	program string
	day     profile.Instant
	rows    hourRows
	ticks   [24]int64 // ticks of each hour
	seq     numbers   // of the day before
}

func (w *hoursWriter) write() error {
	if w.rows.block == nil {
		return nil
	}
	lead, next := w.seq.String(), numbers{1}
	if len(w.seq) > 0 {
		next[0] += w.seq[0]
	}
	w.seq = next
	d := &day{dir: path.Join(datePrefix+DateOf(w.day), hostFolder(w.l.host)), in: next}
	meta := map[string]string{metaProgram: w.program, metaLead: lead, metaTicks: ticksText(&w.ticks), metaTold: strconv.Itoa(0)}
	if _, err := w.l.writeRollUp(d, hours, w.rows.block, meta); err != nil {
		return err
	}
	b := newBlock(ticks)
	for h := range w.ticks {
		b.int(tickTS, int64(w.day+profile.Instant(h)*oneHour))
		b.int(tickElapsed, int64(w.day+profile.Instant(h)*oneHour))
		b.int(tickEvery, int64(oneHour))
		b.int(tickTook, 0)
		b.int(tickSamples, 0)
		b.int(tickLooked, 0)
		b.n++
	}
	if _, err := w.l.writeRollUp(d, ticks, b, meta); err != nil {
		return err
	}
	return w.rows.err
}
