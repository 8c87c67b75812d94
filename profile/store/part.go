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
	"capcli/profile/parquet"
)

// Keys of a file's metadata.
const (
	metaSchema   = "profile.schema"
	metaTable    = "profile.table"
	metaHost     = "profile.host"
	metaProgram  = "profile.program"
	metaSegments = "profile.segments" // that are in it, as ranges
	metaFirst    = "profile.first"    // tick, RFC 3339
	metaLast     = "profile.last"     // tick
	metaGroups   = "profile.groups"   // first and last tick of each row group, microseconds
	metaGaps     = "profile.gaps"     // of ticks: how many times more than one and a half intervals lay between two
	metaGapUS    = "profile.gap_us"   // microseconds beyond the interval in those
)

// groupRows is how many rows a row group is to have: an hour of eight devices
// at one sample a second, 10 MiB in memory.
const groupRows = 32 << 10

// part writes one Parquet file: under another name until it is whole.
type part struct {
	disk   Disk
	t      table
	dir    string // with the store's
	temp   string
	file   File
	buf    *bufio.Writer
	w      *parquet.Table
	count  int64 // rows
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

// group writes the rows of b that pick names as one row group.
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

// mind counts the gaps between ticks, which come in order of time.
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

// finish makes the file durable under its name and replaces a file of that name.
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

// drop removes what was written so far. What cannot be removed now is at the
// next start.
func (p *part) drop() {
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
	_ = p.disk.Remove(p.temp)
}
