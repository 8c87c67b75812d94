package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"capcli/simulate/plan/shard"

	"capcli"
)

// shardMax bounds a shard file or journal.
const shardMax = 1 << 30

// shardFolder is what a folder of shards holds.
type shardFolder struct {
	dir     string
	count   int // of shards that there should be
	whole   []*shard.File
	missing []int    // neither there nor to be used
	kept    []string // what is finished of missing ones
	wrong   []error  // damaged files
}

// openShards reads the shards in dir. count is their number, 0 where the names of
// the files are to say it.
func openShards(e *env, dir string, count int) (*shardFolder, error) {
	names, err := folderNames(e, dir)
	if err != nil {
		return nil, err
	}
	var counts []int
	for _, n := range names {
		if s, _, known := shard.ParseName(n); known && !slices.Contains(counts, s.Count) {
			counts = append(counts, s.Count)
		}
	}
	slices.Sort(counts)
	switch {
	case len(counts) > 1 || len(counts) == 1 && count != 0 && counts[0] != count:
		return nil, &capcli.InputError{
			File: dir, Text: fmt.Sprintf("expected the shards of one sweep, found some of %s", orList(counts, count)),
			Hint: "one folder for each sweep: move away those that do not belong",
		}
	case len(counts) == 0 && count == 0:
		return nil, &capcli.InputError{
			File: dir, Text: "expected files such as " + (shard.Shard{Index: 0, Count: 64}).Name() + ", found none",
			Hint: "capcli plan … --shards 64 --shard 0 --out " + dir + " writes the first of 64",
		}
	case count == 0:
		count = counts[0]
	}
	f := &shardFolder{dir: dir, count: count}
	for k := range count {
		if err := f.add(e, names, shard.Shard{Index: k, Count: count}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// orList joins numbers of shards: "8 shards and of 64 shards".
func orList(counts []int, count int) string {
	if count != 0 && !slices.Contains(counts, count) {
		counts = append(slices.Clone(counts), count)
	}
	var out []string
	for _, n := range counts {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, " and of ")
}

// add reads shard s, if it is there.
func (f *shardFolder) add(e *env, names []string, s shard.Shard) error {
	var file *shard.File
	var err error
	if slices.Contains(names, s.Name()) {
		file, err = readShard(e, shardPath(f.dir, s.Name()))
	}
	switch {
	case err != nil && !is[*capcli.InputError](err):
		return err
	case err == nil && file != nil && file.Head.Of() != s:
		err = &capcli.InputError{File: shardPath(f.dir, s.Name()), Text: fmt.Sprintf("expected shard %d of %d, found shard %d of %d under its name",
			s.Index, s.Count, file.Head.Shard, file.Head.Shards)}
	}
	switch {
	case err != nil:
		f.wrong = append(f.wrong, err)
	case file != nil:
		f.whole = append(f.whole, file)
		return nil
	}
	f.missing = append(f.missing, s.Index)
	for _, n := range names {
		if of, journal, known := shard.ParseName(n); known && journal && of == s {
			f.kept = append(f.kept, n)
		}
	}
	return nil
}

// check refuses a folder that is not all of one sweep, and says all that is wrong.
func (f *shardFolder) check() error {
	if err := f.mixed(); err != nil {
		return err
	}
	if len(f.missing) == 0 {
		return nil
	}
	damaged := map[string]bool{}
	var lines []string
	for _, err := range f.wrong {
		lines = append(lines, err.Error())
		if in, ok := errors.AsType[*capcli.InputError](err); ok {
			damaged[in.File] = true
		}
	}
	for _, k := range f.missing {
		name := shardPath(f.dir, shard.Shard{Index: k, Count: f.count}.Name())
		if !damaged[name] {
			lines = append(lines, name+": missing"+f.begun(k))
		}
	}
	return &capcli.InputError{
		Text: fmt.Sprintf("%d of %d shards in %s are missing or damaged; nothing was merged:\n%s",
			len(f.missing), f.count, f.dir, strings.Join(capcli.Abridge(lines, 20), "\n")),
		Hint: fmt.Sprintf("run them again with --shards %d; in a Slurm array: --array=%s", f.count, ranges(f.missing)),
	}
}

// begun says that an attempt at shard k left a journal.
func (f *shardFolder) begun(k int) string {
	for _, n := range f.kept {
		if s, _, _ := shard.ParseName(n); s.Index == k {
			return ", but begun: what it finished is kept in " + n
		}
	}
	return ""
}

// mixed refuses shards of different sweeps.
func (f *shardFolder) mixed() error {
	var lines []string
	for _, other := range f.whole[min(1, len(f.whole)):] {
		first := &f.whole[0].Head
		if d := first.Differences(&other.Head); len(d) > 0 {
			lines = append(lines, fmt.Sprintf("%s and %s differ in: %s",
				shardPath(f.dir, first.Of().Name()), shardPath(f.dir, other.Head.Of().Name()), strings.Join(d, "; ")))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return &capcli.InputError{
		Text: "expected the shards of one sweep; nothing was merged:\n" + strings.Join(capcli.Abridge(lines, 20), "\n"),
		Hint: "run again those that were made from other inputs: --force computes a shard anew",
	}
}

// merge gives the outcomes of all pieces to what they are pieces of, which must
// be what head, made just now from the same command line, says.
func (f *shardFolder) merge(ctx context.Context, head *shard.Head, p *pieces) error {
	if d := f.whole[0].Head.Differences(head); len(d) > 0 {
		return foreignShard(f.dir, d, "this merge")
	}
	outcomes, err := shard.Merge(f.whole)
	if err != nil {
		return err
	}
	return p.finish(ctx, outcomes)
}

// foreignShard says that a shard is of other inputs than what.
func foreignShard(name string, differences []string, what string) error {
	return &capcli.InputError{
		File: name, Text: "expected a shard of the same sweep; it and " + what + " differ in: " + strings.Join(differences, "; "),
		Hint: "use a folder for each sweep; --force computes a shard anew",
	}
}

// readShard reads one shard file.
func readShard(e *env, name string) (*shard.File, error) {
	b, err := readFile(e, name, shardMax+1)
	if err != nil {
		return nil, err
	}
	if len(b) > shardMax {
		return nil, &capcli.InputError{File: name, Text: "expected at most 1 GiB, found more"}
	}
	return shard.Parse(name, b)
}

// folderNames lists what is in a folder, by name.
func folderNames(e *env, dir string) ([]string, error) {
	f, err := e.disk.open(dir)
	if err != nil {
		return nil, cannotOpen(dir, err)
	}
	defer func() { _ = f.Close() }()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, &capcli.InputError{File: dir, Text: "expected a folder, found a file"}
	}
	entries, err := d.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, cannotOpen(dir, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names, nil
}

func shardPath(dir, name string) string { return filepath.Join(dir, name) }

// ranges is how Slurm writes numbers: 3,7,12-15.
func ranges(sorted []int) string {
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
