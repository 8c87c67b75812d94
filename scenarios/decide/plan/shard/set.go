package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"capcli"
)

// A Folder holds the files of a sweep.
type Folder interface {
	// Names returns the names of all files in the folder, sorted.
	Names() ([]string, error)
	// Read returns the content of a file, at most most bytes. Its error is fs.ErrNotExist where
	// there is no such file.
	Read(name string, most int64) ([]byte, error)
}

// maxFile is the largest shard file or journal, in bytes.
const maxFile = 1 << 30

func readFile(dir string, folder Folder, name string) (*shardFile, error) {
	b, err := folder.Read(name, maxFile+1)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	if len(b) > maxFile {
		return nil, &capcli.InputError{File: path, Text: "expected at most 1 GiB, found more"}
	}
	return parseShard(path, b)
}

// A Set is the shards of one sweep in a folder.
type Set struct {
	// Missing lists the shards whose file is missing or damaged, by number.
	Missing []int
	// Damaged lists the faults of the damaged files.
	Damaged []error

	dir   string
	count int
	whole []*shardFile
	begun []string // journals of missing shards
}

// ReadSet reads the shards in folder, whose path is dir. count is their number; 0 takes it from the
// names of the files.
func ReadSet(dir string, folder Folder, count int) (*Set, error) {
	names, err := folder.Names()
	if err != nil {
		return nil, err
	}
	if count, err = countOf(dir, names, count); err != nil {
		return nil, err
	}
	s := &Set{dir: dir, count: count}
	for k := range count {
		if err := s.add(folder, names, Shard{Index: k, Count: count}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// countOf returns the number of shards in the names of the files. It fails where they differ from
// each other, or from count unless that is 0.
func countOf(dir string, names []string, count int) (int, error) {
	var counts []int
	for _, n := range names {
		if s, _, known := parseName(n); known && !slices.Contains(counts, s.Count) {
			counts = append(counts, s.Count)
		}
	}
	slices.Sort(counts)
	switch {
	case len(counts) > 1 || len(counts) == 1 && count != 0 && counts[0] != count:
		if count != 0 && !slices.Contains(counts, count) {
			counts = append(counts, count)
		}
		list := capcli.Map(counts, strconv.Itoa)
		return 0, &capcli.InputError{
			File: dir, Text: "expected the shards of one sweep, found some of " + strings.Join(list, " and of "),
			Hint: "one folder for each sweep: move away those that do not belong",
		}
	case len(counts) == 0 && count == 0:
		return 0, &capcli.InputError{
			File: dir, Text: "expected files such as " + (Shard{Index: 0, Count: 64}).Name() + ", found none",
			Hint: "capcli plan … --shards 64 --shard 0 --out " + dir + " writes the first of 64",
		}
	case count == 0:
		return counts[0], nil
	}
	return count, nil
}

// add reads shard s, if its file is there.
func (x *Set) add(folder Folder, names []string, s Shard) error {
	var file *shardFile
	var err error
	if slices.Contains(names, s.Name()) {
		file, err = readFile(x.dir, folder, s.Name())
	}
	_, bad := errors.AsType[*capcli.InputError](err)
	switch {
	case err != nil && !bad:
		return err
	case err == nil && file != nil && file.Head.ShardOf() != s:
		err = &capcli.InputError{File: filepath.Join(x.dir, s.Name()), Text: fmt.Sprintf("expected shard %d of %d, found shard %d of %d under its name",
			s.Index, s.Count, file.Head.Shard, file.Head.Shards)}
	}
	switch {
	case err != nil:
		x.Damaged = append(x.Damaged, err)
	case file != nil:
		x.whole = append(x.whole, file)
		return nil
	}
	x.Missing = append(x.Missing, s.Index)
	for _, n := range names {
		if of, journal, known := parseName(n); known && journal && of == s {
			x.begun = append(x.begun, n)
		}
	}
	return nil
}

// Head returns the head of the first whole shard; the set must have one.
func (x *Set) Head() *Head { return &x.whole[0].Head }

// linesMost is the most faults that an error lists.
const linesMost = 20

// Check returns an error that lists all faults, unless every shard is there, whole and of the same
// sweep.
func (x *Set) Check() error {
	if err := x.CheckSame(); err != nil {
		return err
	}
	if len(x.Missing) == 0 {
		return nil
	}
	damaged := map[string]bool{}
	var lines []string
	for _, err := range x.Damaged {
		lines = append(lines, err.Error())
		if in, ok := errors.AsType[*capcli.InputError](err); ok {
			damaged[in.File] = true
		}
	}
	for _, k := range x.Missing {
		name := filepath.Join(x.dir, Shard{Index: k, Count: x.count}.Name())
		if !damaged[name] {
			lines = append(lines, name+": missing"+x.begunText(k))
		}
	}
	return &capcli.InputError{
		Text: fmt.Sprintf("%d of %d shards in %s are missing or damaged; nothing was merged:\n%s", len(x.Missing), x.count, x.dir, strings.Join(capcli.Abridge(lines, linesMost), "\n")),
		Hint: fmt.Sprintf("run them again with --shards %d; in a Slurm array: --array=%s", x.count, Ranges(x.Missing)),
	}
}

// begunText says that an attempt at shard k left a journal; "" where none did.
func (x *Set) begunText(k int) string {
	for _, n := range x.begun {
		if s, _, _ := parseName(n); s.Index == k {
			return ", but begun: what it finished is kept in " + n
		}
	}
	return ""
}

// CheckSame returns an error that lists the shards that are of different sweeps; nil where none
// are.
func (x *Set) CheckSame() error {
	var lines []string
	for _, other := range x.whole[min(1, len(x.whole)):] {
		first := x.Head()
		if d := first.differences(&other.Head); len(d) > 0 {
			lines = append(lines, fmt.Sprintf("%s and %s differ in: %s",
				filepath.Join(x.dir, first.ShardOf().Name()), filepath.Join(x.dir, other.Head.ShardOf().Name()), strings.Join(d, "; ")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return &capcli.InputError{
		Text: "expected the shards of one sweep; nothing was merged:\n" + strings.Join(capcli.Abridge(lines, linesMost), "\n"),
		Hint: "run again those that were made from other inputs: --force computes a shard anew",
	}
}

// Outcomes returns the outcomes of all pieces in order. It fails where the shards are not of the
// sweep that head describes.
func (x *Set) Outcomes(head *Head) ([]json.RawMessage, error) {
	if d := x.Head().differences(head); len(d) > 0 {
		return nil, foreign(x.dir, d, "this merge")
	}
	return merge(x.whole)
}

// foreign returns the error of a shard that is of another sweep than what.
func foreign(path string, differences []string, what string) error {
	return &capcli.InputError{
		File: path, Text: "expected a shard of the same sweep; it and " + what + " differ in: " + strings.Join(differences, "; "),
		Hint: "use a folder for each sweep; --force computes a shard anew",
	}
}

// Ranges writes sorted numbers as Slurm does: 3,7,12-15.
func Ranges(sorted []int) string {
	var out []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		text := strconv.Itoa(sorted[i])
		if j > i {
			text += "-" + strconv.Itoa(sorted[j])
		}
		out, i = append(out, text), j+1
	}
	return strings.Join(out, ",")
}
