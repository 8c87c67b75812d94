package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"capcli/simulate/plan/shard"
)

// shardRun is one shard being computed into a folder.
type shardRun struct {
	e       *env
	dir     string
	head    shard.Head
	work    *pieces
	force   bool
	pieces  map[int]shard.Piece
	stale   []string // journals that go once the shard is whole
	journal file
	name    string // of the journal
	lock    sync.Mutex
}

// run computes what is not there yet of the shard, and gives it its file.
func (r *shardRun) run(ctx context.Context) error {
	of := r.head.Of()
	if err := r.e.disk.mkdir(r.dir); err != nil {
		return &outputError{path: r.dir, err: err}
	}
	there, err := r.whole()
	if err != nil || there {
		return err
	}
	if err := r.resume(); err != nil {
		return err
	}
	var which []int
	for c := range of.Numbers(r.head.Pieces) {
		if _, have := r.pieces[c]; !have {
			which = append(which, c)
		}
	}
	if n := len(r.pieces); n > 0 {
		r.e.note(fmt.Sprintf("shard %d of %d: %d of its %s were finished before; %d are left",
			of.Index, of.Count, n, pieceCount(n+len(which)), len(which)))
	}
	if err := r.begin(); err != nil {
		return err
	}
	failed := r.work.evaluate(ctx, which, r.done)
	if err := r.journal.Close(); failed == nil && err != nil {
		failed = r.failed(err)
	}
	if failed != nil {
		if n := len(r.pieces); n > 0 {
			r.e.note(fmt.Sprintf("shard %d of %d: %d of its %s are finished and kept in %s", of.Index, of.Count, n,
				pieceCount(of.Len(r.head.Pieces)), r.dir))
		}
		return failed
	}
	return r.write()
}

// pieceCount is "1 run" or "12 runs".
func pieceCount(n int) string {
	return grouped(int64(n)) + " " + plural(int64(n), "run")
}

// whole tells whether the shard's file is there already, and is what would be
// computed. A file of another sweep is refused, a damaged one replaced.
func (r *shardRun) whole() (bool, error) {
	name := shardPath(r.dir, r.head.Of().Name())
	f, err := readShard(r.e, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case r.force:
		r.e.note("--force: " + name + " is computed again")
		return false, nil
	case err != nil:
		r.e.note(fmt.Sprintf("%v; it is computed again", err))
		return false, nil
	}
	if d := f.Head.Differences(&r.head); len(d) > 0 {
		return false, foreignShard(name, d, "this call")
	}
	r.e.note(name + " is whole: nothing was computed (--force computes it again)")
	r.tidy()
	return true, nil
}

// resume reads the journals of attempts that did not come to their end.
func (r *shardRun) resume() error {
	r.pieces = map[int]shard.Piece{}
	names, err := r.journals()
	if err != nil {
		return err
	}
	for _, n := range names {
		r.stale = append(r.stale, n)
		if r.force {
			continue
		}
		b, err := readFile(r.e, shardPath(r.dir, n), shardMax)
		if err != nil {
			return err
		}
		pieces, dropped, ok := shard.ParseJournal(&r.head, b)
		switch {
		case !ok:
			r.e.note(shardPath(r.dir, n) + " is of other inputs, or has no whole line: it is not used")
		case dropped > 0:
			r.e.note(fmt.Sprintf("%s: %d %s torn or damaged, and not used", shardPath(r.dir, n), dropped, plural(int64(dropped), "line")))
		}
		for c, p := range pieces {
			r.pieces[c] = p
		}
	}
	return nil
}

// journals lists those of the shard, by number.
func (r *shardRun) journals() ([]string, error) {
	names, err := folderNames(r.e, r.dir)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		s, journal, known := shard.ParseName(name)
		return !known || !journal || s != r.head.Of()
	}), nil
}

// begin opens a journal of its own: another attempt at the shard may still be
// dying.
func (r *shardRun) begin() error {
	for n := 0; ; n++ {
		r.name = r.head.Of().JournalName(n)
		f, err := r.e.disk.create(shardPath(r.dir, r.name), 0o666)
		if err == nil {
			r.journal = f
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return &outputError{path: shardPath(r.dir, r.name), err: err}
		}
	}
	line, err := shard.JournalHead(&r.head)
	if err != nil {
		return err
	}
	if _, err = r.journal.Write(line); err != nil {
		return r.failed(err)
	}
	return nil
}

func (r *shardRun) failed(err error) error {
	return &outputError{path: shardPath(r.dir, r.name), err: err, hint: "what was finished is kept: run the shard again"}
}

// done takes an outcome and keeps it at once.
func (r *shardRun) done(piece int, outcome json.RawMessage) error {
	p := shard.Piece{Piece: piece, Outcome: outcome}
	line, err := shard.JournalPiece(&p)
	if err != nil {
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if _, err := r.journal.Write(line); err != nil {
		return r.failed(err)
	}
	r.pieces[piece] = p
	return nil
}

// write gives the shard its file, and takes away the journals.
func (r *shardRun) write() error {
	f := &shard.File{Head: r.head}
	for _, c := range slices.Sorted(maps.Keys(r.pieces)) {
		f.Pieces = append(f.Pieces, r.pieces[c])
	}
	name := shardPath(r.dir, r.head.Of().Name())
	out, err := r.e.create(name)
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := shard.Write(out, f); err != nil {
		return out.failed(err)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	r.stale = append(r.stale, r.name)
	r.tidy()
	r.e.say(fmt.Sprintf("wrote %s: %s of %s", name, pieceCount(len(f.Pieces)), grouped(int64(r.head.Pieces))))
	return nil
}

// tidy takes away journals that are of no more use; one that stays does no harm.
func (r *shardRun) tidy() {
	if r.stale == nil {
		r.stale, _ = r.journals()
	}
	for _, n := range r.stale {
		_ = r.e.disk.remove(shardPath(r.dir, n))
	}
}
