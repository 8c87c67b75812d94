package store

import (
	"cmp"
	"errors"
	"fmt"
	"path"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// Verified is the result of Verify.
type Verified struct {
	Files, Segments int
	Rows            map[string]int64 // rows of sound files, by table
	Ticks           int              // sound ticks in segments that are not yet files
	// Problems are the faults that make figures wrong or missing.
	Problems []error
	// Notes are leftovers that the next start or compaction clears up.
	Notes []string
}

// Verify reads everything in a directory. It checks seals and checksums, the columns and the
// order of the tables, and that no two files hold the same segment. Faults that it finds are in
// Problems. It returns an error where it cannot read at all.
func Verify(disk Disk, root string) (*Verified, error) {
	if disk == nil {
		disk = System{}
	}
	v := &Verified{Rows: map[string]int64{}}
	hosts, err := hosts(disk, root, spanOf(0, 0))
	if err != nil {
		return nil, err
	}
	for _, host := range hosts {
		l, err := list(disk, root, host)
		if err != nil {
			return nil, err
		}
		if err := v.host(l); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *Verified) host(l *listing) error {
	l.settle()
	for _, name := range l.temps {
		v.Notes = append(v.Notes, path.Join(l.root, name)+" was not finished")
	}
	gone := map[string]bool{}
	for _, p := range l.gone {
		gone[p.path()] = true
		v.Notes = append(v.Notes, path.Join(l.root, p.path())+" is in a compacted file, too")
	}
	holders := map[[2]int64]string{}
	for i := range l.pieces {
		p := &l.pieces[i]
		name := path.Join(l.root, p.path())
		err := v.file(l.disk, name, p, l.host)
		if err == nil && !gone[p.path()] && p.table < numTables {
			err = v.checkHeldOnce(l, p, holders)
		}
		switch {
		case p.table >= numTables && errors.Is(err, errOlder):
			v.Notes = append(v.Notes, name+" was made by another version: compacting makes it again")
		case isDamage(err):
			v.Problems = append(v.Problems, err)
		case err != nil:
			return err
		}
	}
	if err := v.rollUps(l); err != nil {
		return err
	}
	for _, seq := range l.logs {
		err := v.segment(l.disk, path.Join(l.logDir(), logName(seq)), true)
		switch {
		case isDamage(err):
			v.Problems = append(v.Problems, err)
		case err != nil:
			return err
		}
	}
	for _, name := range l.odd {
		v.Problems = append(v.Problems, &capcli.InputError{
			File: path.Join(l.logDir(), name), Text: "a segment that was found damaged, of which the sound part was saved",
			Hint: "remove it when nobody needs the rest",
		})
	}
	return nil
}

// rollUps notes the roll-ups of days that changed afterwards. Nothing reads them.
func (v *Verified) rollUps(l *listing) error {
	days, err := l.days(nil)
	if isDamage(err) {
		return nil // a problem of its own
	}
	if err != nil {
		return err
	}
	for i := range days {
		d := &days[i]
		for _, some := range [...][]*piece{d.hours, d.minutes, d.told} {
			o, first, err := l.openRollUp(d, segmentsBefore(days, i), some)
			if err != nil {
				return err
			}
			if o != nil {
				o.close()
			}
			if len(some) > 0 && (o == nil || first != d.begin) {
				v.Notes = append(v.Notes, path.Join(l.root, some[0].path())+" is out of date: compacting makes it again")
			}
		}
	}
	return nil
}

// checkHeldOnce reports a problem where two files of a table hold the same segment.
func (v *Verified) checkHeldOnce(l *listing, p *piece, holders map[[2]int64]string) error {
	in, err := l.numbers(p)
	if err != nil {
		return err
	}
	for _, seq := range in {
		key := [2]int64{int64(p.table), seq}
		if other, twice := holders[key]; twice {
			return &capcli.InputError{
				File: path.Join(l.root, p.path()), Text: fmt.Sprintf("segment %d is in %s, too: its rows count twice", seq, other),
				Hint: "remove one of them",
			}
		}
		holders[key] = p.path()
	}
	return nil
}

// file checks one file and counts its rows.
func (v *Verified) file(disk Disk, name string, p *piece, host string) error {
	o, err := openPiece(disk, name, p, host)
	if err != nil {
		return err
	}
	defer o.close()
	size, err := o.at.Size()
	if err != nil {
		return diskFault("reading", name, err)
	}
	if err := parquet.Verify(o.at, size); err != nil {
		return inFile(name, err)
	}
	b := newBlock(p.table)
	for g := range o.groups {
		b.reset()
		if err := o.block(g, b); err != nil {
			return err
		}
		if err := checkRows(b, host); err != nil {
			return inFile(name, err)
		}
		if err := checkGroup(b, o.groups[g], path.Dir(p.dir)); err != nil {
			return &capcli.InputError{File: name, Text: fmt.Sprintf("row group %d: %v", g, err), Hint: "another program changed or made it"}
		}
	}
	v.Files++
	v.Rows[specs[p.table].name] += o.Rows()
	return nil
}

// checkRows checks that the rows of a roll-up can be read.
func checkRows(b *block, host string) error {
	switch b.spec {
	case &specs[hours]:
		x := newSpanReader(OpenDir(nil, ""), host)
		for row := 0; row < b.n; {
			_, next, err := x.read(b, row)
			if err != nil {
				return err
			}
			row = next
		}
	case &specs[toldTable]:
		for row := range b.n {
			if _, err := toldAt(b, row, host); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkGroup checks that the rows of a row group are in order, within stretch (instants of the
// first and last tick) and of the day; day is "." where it is not known.
func checkGroup(b *block, stretch [2]int64, day string) error {
	keys := b.keys()
	for k := range b.n {
		at := profile.Instant(keys[k])
		if keys[k] < stretch[0] || keys[k] > stretch[1] {
			return fmt.Errorf("row %d: tick of %v, outside what the metadata says", k, at.Std())
		}
		if date := datePrefix + dateOf(at); day != "." && date != day {
			return fmt.Errorf("row %d: tick of %v in folder %s", k, at.Std(), day)
		}
		if k == 0 {
			continue
		}
		switch c := cmp.Or(b.compareKind(int32(k-1), int32(k)), cmp.Compare(keys[k-1], keys[k])); {
		case c > 0:
			return fmt.Errorf("row %d: out of order", k)
		case c == 0 && b.spec == &specs[samples]:
			return fmt.Errorf("row %d: comes twice", k)
		}
	}
	return nil
}

// segment checks one segment and counts its ticks. live says that a Writer may be writing it:
// then a torn end is only a note.
func (v *Verified) segment(disk Disk, name string, live bool) error {
	b, err := load(disk, name)
	if err != nil {
		if live && isGone(err) {
			return nil // it was converted to files meanwhile
		}
		return err
	}
	v.Segments++
	s, _ := play(b, newRower())
	v.Ticks += s.ticks
	switch {
	case s.damaged:
		return &capcli.InputError{
			File: name, Text: fmt.Sprintf("damaged: %d ticks are sound, %d bytes are behind the fault", s.ticks, s.dropped), Hint: "the sound ticks are saved at the next start",
		}
	case s.dropped > 0 && live:
		v.Notes = append(v.Notes, fmt.Sprintf("%s ends within a tick: %d bytes", name, s.dropped))
	case s.dropped > 0:
		return &capcli.InputError{
			File: name, Text: fmt.Sprintf("ends within a tick: %d ticks are sound, %d bytes are not", s.ticks, s.dropped), Hint: "the sound ticks are saved at the next start",
		}
	}
	return nil
}
