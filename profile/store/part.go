package store

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// Keys of the metadata of a file.
const (
	metaSchema   = "profile.schema"
	metaTable    = "profile.table"
	metaHost     = "profile.host"
	metaProgram  = "profile.program"
	metaSegments = "profile.segments" // numbers of the segments in the file, as ranges
	metaFirst    = "profile.first"    // instant of the first tick, RFC 3339
	metaLast     = "profile.last"     // instant of the last tick, RFC 3339
	metaGroups   = "profile.groups"   // first and last tick of each row group, microseconds
	metaGaps     = "profile.gaps"     // table ticks: gaps, where ticks are over 1.5 intervals apart
	metaLead     = "profile.before"   // tables of roll-ups: numbers of the segments of the day before, as ranges
	metaTold     = "profile.told"     // tables of roll-ups: rows of the table told
	metaTicks    = "profile.ticks"    // tables of roll-ups: ticks with samples in each hour of the day
	metaGapUS    = "profile.gap_us"   // table ticks: time in gaps beyond the interval, microseconds
)

// groupRows is the target number of rows of a row group: about an hour of eight devices at one
// sample a second, 10 MiB in memory.
const groupRows = 32 << 10

// part writes one Parquet file, under a temporary name until it is complete.
type part struct {
	disk   Disk
	t      table
	dir    string // folder of the file, with the root of the store
	temp   string
	file   File
	buf    *bufio.Writer
	w      *parquet.Table
	count  int64 // rows written
	groups []string
	first  int64
	last   int64
	gaps   int64
	gapUS  int64
}

func newPart(disk Disk, t table, dir, temp, host, program string) (*part, error) {
	p := &part{disk: disk, t: t, dir: dir, temp: path.Join(dir, temp), first: math.MaxInt64, last: math.MinInt64}
	if err := disk.MakeDir(dir); err != nil {
		return nil, diskFault("creating", dir, err)
	}
	var err error
	if p.file, err = disk.Create(p.temp); err != nil {
		return nil, diskFault("creating", p.temp, err)
	}
	p.buf = bufio.NewWriterSize(p.file, 64<<10)
	p.w, err = parquet.NewTable(p.buf, specs[t].columns, map[string]string{
		metaSchema: strconv.Itoa(schema), metaTable: specs[t].name, metaHost: host, metaProgram: program,
	})
	if err != nil {
		p.drop()
		return nil, err
	}
	return p, nil
}

// group writes the rows of b with the numbers in pick as one row group. It reorders pick.
func (p *part) group(b *block, pick []int32) error {
	keys := b.keys()
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, k := range pick {
		first, last = min(first, keys[k]), max(last, keys[k])
	}
	if p.t == ticks {
		p.mind(b, pick)
	}
	b.sortByKind(pick)
	p.first, p.last = min(p.first, first), max(p.last, last)
	p.count += int64(len(pick))
	p.groups = append(p.groups, fmt.Sprintf("%d %d", first, last))
	if err := p.w.Group(b.cols, pick); err != nil {
		return diskFault("writing", p.temp, err)
	}
	return nil
}

// mind adds the gaps between the ticks in pick, which must be in order of time.
func (p *part) mind(b *block, pick []int32) {
	at, every := b.cols[tickTS].Ints, b.cols[tickEvery].Ints
	before := p.last
	for _, k := range pick {
		if before != math.MinInt64 {
			if away := at[k] - before; every[k] > 0 && away > every[k]+every[k]/2 {
				p.gaps++
				p.gapUS += away - every[k]
			}
		}
		before = at[k]
	}
}

// finish completes the file, makes it durable under its final name and returns that name. in is
// the set of its segments. A file of the same name is replaced.
func (p *part) finish(in numbers) (string, error) {
	w := p.w
	w.Note(metaSegments, in.String())
	w.Note(metaFirst, profile.Instant(p.first).Std().Format(time.RFC3339Nano))
	w.Note(metaLast, profile.Instant(p.last).Std().Format(time.RFC3339Nano))
	w.Note(metaGroups, strings.Join(p.groups, ";"))
	if p.t == ticks {
		w.Note(metaGaps, strconv.FormatInt(p.gaps, 10))
		w.Note(metaGapUS, strconv.FormatInt(p.gapUS, 10))
	}
	err := w.Close()
	if err == nil {
		err = p.buf.Flush()
	}
	if err == nil {
		err = p.file.Sync()
	}
	err = errors.Join(err, p.file.Close())
	p.file = nil
	name := pieceName(p.t, profile.Instant(p.first), in[0], in[len(in)-1])
	if err == nil {
		err = p.disk.Rename(p.temp, path.Join(p.dir, name))
	}
	if err != nil {
		p.drop()
		return "", diskFault("writing", p.temp, err)
	}
	if err := p.disk.SyncDir(p.dir); err != nil {
		return "", diskFault("syncing", p.dir, err)
	}
	return name, nil
}

// drop removes the unfinished file. A file that cannot be removed now is removed at the next
// start.
func (p *part) drop() {
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
	_ = p.disk.Remove(p.temp)
}
