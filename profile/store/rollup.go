package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"capcli/profile"
)

// rollUps makes the roll-ups of the days of a host: files of the tables hours and minutes. It leaves a
// day out of which not all segments are in files, and one whose roll-ups tell what its samples tell. A
// roll-up names the segments that it was made of, so that it counts only as long as the day has just
// these.
func rollUps(ctx context.Context, disk Disk, root, host string, o CompactOptions, done *Compacted) error {
	r := OpenDir(disk, root)
	l, logs, err := r.listFiles(host, spanOf(0, 0))
	if err != nil {
		return err
	}
	days, err := l.days(logs)
	if isDamage(err) {
		return nil // the merge has told of it
	}
	if err != nil {
		return err
	}
	for i := range days {
		d := &days[i]
		if !d.sampled || d.open || o.Before != 0 && d.begin >= o.Before-o.Before%oneDay {
			continue
		}
		before := segmentsBefore(days, i)
		current, err := l.isRolledUp(d, before)
		if err == nil && !current {
			err = r.rollUp(ctx, l, d, before, o.Program, done)
		}
		if isDamage(err) {
			done.Bad = append(done.Bad, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isRolledUp reports whether the roll-ups of a day are up to date.
func (l *listing) isRolledUp(d *day, before numbers) (bool, error) {
	told := "0"
	for _, some := range [...][]*piece{d.hours, d.minutes, d.told} {
		if told == "0" && len(some) == 0 && len(d.hours) > 0 && len(d.minutes) > 0 {
			continue
		}
		o, first, err := l.openRollUp(d, before, some)
		if o == nil || err != nil {
			return false, err
		}
		told, _ = o.Meta(metaTold)
		o.close()
		if first != d.begin {
			return false, nil
		}
	}
	return true, nil
}

// errCoarse is the error of ticks so far apart that a roll-up is not worth its room.
var errCoarse = errors.New("ticks over 20 minutes apart")

// dayRows are the rows of the roll-ups of a day.
type dayRows struct {
	hours   hourRows
	minutes minuteRows
	told    toldRows
	ticks   [24]int64 // ticks with samples, by hour
}

// rollUp makes the roll-ups of a day and removes those that they replace.
func (r *Reader) rollUp(ctx context.Context, l *listing, d *day, before numbers, program string, done *Compacted) error {
	rows, err := r.sumDay(ctx, l, d)
	if errors.Is(err, errCoarse) {
		return nil
	}
	if err != nil || rows.hours.n == 0 {
		return err
	}
	var gone []string
	for _, made := range []struct {
		rows *block
		t    table
		old  []*piece
	}{{rows.minutes.block, minutes, d.minutes}, {rows.told.block, toldTable, d.told}, {rows.hours.block, hours, d.hours}} {
		if made.rows.n == 0 {
			continue
		}
		name, err := l.writeRollUp(d, made.t, made.rows, map[string]string{
			metaProgram: program, metaLead: before.String(), metaTicks: ticksText(&rows.ticks), metaTold: strconv.Itoa(rows.told.n),
		})
		if err != nil {
			return err
		}
		for _, old := range made.old {
			if old.name != name {
				gone = append(gone, old.path())
			}
		}
	}
	done.RolledUp++
	return l.remove(gone)
}

func (l *listing) writeRollUp(d *day, t table, rows *block, meta map[string]string) (string, error) {
	temp := fmt.Sprintf(".%s-%08d%s", specs[t].name, d.in[0], mergeTemp)
	p, err := newPart(l.disk, t, path.Join(l.root, d.dir), temp, l.host, meta[metaProgram])
	if err != nil {
		return "", err
	}
	if err := p.group(rows, rows.allRows()); err != nil {
		p.drop()
		return "", err
	}
	for _, key := range [...]string{metaLead, metaTicks, metaTold} {
		p.w.Note(key, meta[key])
	}
	return p.finish(d.in)
}

// sumDay reads the samples of a day, and those of the hour before it for what is known at its begin.
func (r *Reader) sumDay(ctx context.Context, l *listing, d *day) (*dayRows, error) {
	words := &holderWords{words: map[string]string{}}
	rows := &dayRows{hours: hourRows{block: newBlock(hours), holders: words}, minutes: minuteRows{newBlock(minutes), words}, told: toldRows{newBlock(toldTable)}}
	spans := profile.NewSpanner(rows.hours.span, rows.told.add, rows.minutes.minute)
	var fault error
	_, err := r.play(l, nil, Query{From: d.begin - leadTime, To: d.begin + oneDay}, func(t HostTick, _ error) bool {
		switch {
		case t.Every > leadTime.Duration()/3:
			fault = errCoarse
		case t.At < d.begin:
			spans.Lead(t.Host, t.Tick)
		default:
			spans.Add(t.Host, t.Tick)
			if len(t.Samples) > 0 {
				rows.ticks[(t.At-d.begin)/oneHour]++
			}
		}
		fault = errors.Join(fault, context.Cause(ctx))
		return fault == nil
	})
	spans.Flush()
	return rows, errors.Join(fault, err, rows.hours.err)
}

// ticksText returns the numbers of ticks by hour, apart by blanks.
func ticksText(all *[24]int64) string { return strings.Trim(fmt.Sprint(all[:]), "[]") }

// parseTicks returns what ticksText wrote; ok is false for any other text.
func parseTicks(s string) (all [24]int64, ok bool) {
	words := strings.Split(s, " ")
	if len(words) != len(all) {
		return all, false
	}
	for i, w := range words {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < 0 {
			return all, false
		}
		all[i] = n
	}
	return all, true
}
