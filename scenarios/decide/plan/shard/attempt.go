package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"capcli"
)

// Work is the numbered list of pieces that a sweep consists of.
type Work interface {
	// Len returns the number of pieces.
	Len() int
	// Compute computes the pieces with the numbers in which. It passes the outcome of each as a
	// JSON value to done, in any order and from any goroutine.
	Compute(ctx context.Context, which []int, done func(piece int, outcome json.RawMessage) error) error
}

// A WritableFolder is a Folder that a shard is written to.
type WritableFolder interface {
	Folder
	// Create makes a new file that stores each write at once. Its error is fs.ErrExist where the
	// name exists.
	Create(name string) (io.WriteCloser, error)
	// Replace sets the content of a file to what write writes: all of it or nothing.
	Replace(name string, write func(w io.Writer) error) error
	// Remove deletes a file.
	Remove(name string) error
}

// An Attempt computes one shard into a folder.
type Attempt struct {
	Head   Head
	Dir    string // path of Folder, for messages
	Folder WritableFolder
	Force  bool              // compute the shard even if its file is whole
	Note   func(text string) // receives messages for people
}

// attempt is an Attempt in progress.
type attempt struct {
	*Attempt
	pieces  map[int]shardPiece
	stale   []string // journals to delete once the shard is whole
	journal io.WriteCloser
	name    string // of the journal
	lock    sync.Mutex
}

// Run computes the pieces of the shard that no earlier attempt finished, and writes the file of the
// shard. It returns the number of pieces in the file; -1 where the shard was whole before. Where it
// fails, the finished pieces stay in a journal.
func (a *Attempt) Run(ctx context.Context, work Work) (pieces int, err error) {
	x := &attempt{Attempt: a, pieces: map[int]shardPiece{}}
	if whole, err := x.isWhole(); err != nil || whole {
		return -1, err
	}
	if err := x.resume(); err != nil {
		return 0, err
	}
	of := a.Head.ShardOf()
	var which []int
	for c := range of.numbers(a.Head.Pieces) {
		if _, have := x.pieces[c]; !have {
			which = append(which, c)
		}
	}
	if n := len(x.pieces); n > 0 {
		a.Note(fmt.Sprintf("shard %d of %d: %d of its %s were finished before; %d are left",
			of.Index, of.Count, n, countText(n+len(which)), len(which)))
	}
	if err := x.begin(); err != nil {
		return 0, err
	}
	failed := work.Compute(ctx, which, x.keep)
	if err := x.journal.Close(); failed == nil {
		failed = err
	}
	if failed != nil {
		if n := len(x.pieces); n > 0 {
			a.Note(fmt.Sprintf("shard %d of %d: %d of its %s are finished and kept in %s", of.Index, of.Count, n,
				countText(of.size(a.Head.Pieces)), a.Dir))
		}
		return 0, failed
	}
	return len(x.pieces), x.write()
}

// countText returns a number of pieces in words: "1 run" or "12 runs".
func countText(n int) string {
	return capcli.Grouped(int64(n)) + " " + capcli.Plural(int64(n), "run")
}

func (x *attempt) path(name string) string { return filepath.Join(x.Dir, name) }

// isWhole reports whether the shard's file is there and belongs to this sweep. It fails where the
// file is of another sweep; a damaged file is to be replaced.
func (x *attempt) isWhole() (bool, error) {
	name := x.Head.ShardOf().Name()
	f, err := readFile(x.Dir, x.Folder, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case x.Force:
		x.Note("--force: " + x.path(name) + " is computed again")
		return false, nil
	case err != nil:
		x.Note(fmt.Sprintf("%v; it is computed again", err))
		return false, nil
	}
	if d := f.Head.differences(&x.Head); len(d) > 0 {
		return false, foreign(x.path(name), d, "this call")
	}
	x.Note(x.path(name) + " is whole: nothing was computed (--force computes it again)")
	x.tidy()
	return true, nil
}

// resume reads the journals of attempts that did not finish.
func (x *attempt) resume() error {
	names, err := x.journals()
	if err != nil {
		return err
	}
	for _, n := range names {
		x.stale = append(x.stale, n)
		if x.Force {
			continue
		}
		b, err := x.Folder.Read(n, maxFile)
		if err != nil {
			return err
		}
		pieces, dropped, ok := parseJournal(&x.Head, b)
		switch {
		case !ok:
			x.Note(x.path(n) + " is of other inputs, or has no whole line: it is not used")
		case dropped > 0:
			x.Note(fmt.Sprintf("%s: %d %s torn or damaged, and not used", x.path(n), dropped, capcli.Plural(int64(dropped), "line")))
		}
		maps.Copy(x.pieces, pieces)
	}
	return nil
}

// journals returns the names of the shard's journals, sorted.
func (x *attempt) journals() ([]string, error) {
	names, err := x.Folder.Names()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		s, journal, known := parseName(name)
		return !known || !journal || s != x.Head.ShardOf()
	}), nil
}

// begin creates a new journal: another attempt at the shard may still be running.
func (x *attempt) begin() error {
	line, err := journalLine(&x.Head)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		x.name = x.Head.ShardOf().journalName(n)
		if x.journal, err = x.Folder.Create(x.name); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	_, err = x.journal.Write(line)
	return err
}

// keep writes an outcome to the journal at once.
func (x *attempt) keep(piece int, outcome json.RawMessage) error {
	p := shardPiece{Piece: piece, Outcome: outcome}
	if len(outcome) == 0 {
		return fmt.Errorf("the outcome of piece %d is empty", piece)
	}
	line, err := journalLine(&p)
	if err != nil {
		return err
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	if _, err := x.journal.Write(line); err != nil {
		return err
	}
	x.pieces[piece] = p
	return nil
}

// write writes the file of the shard and deletes the journals.
func (x *attempt) write() error {
	f := &shardFile{Head: x.Head}
	for _, c := range slices.Sorted(maps.Keys(x.pieces)) {
		f.Pieces = append(f.Pieces, x.pieces[c])
	}
	err := x.Folder.Replace(x.Head.ShardOf().Name(), func(w io.Writer) error { return writeShard(w, f) })
	if err != nil {
		return err
	}
	x.stale = append(x.stale, x.name)
	x.tidy()
	return nil
}

// tidy deletes journals that are no longer needed; one that stays does no harm.
func (x *attempt) tidy() {
	if x.stale == nil {
		x.stale, _ = x.journals()
	}
	for _, n := range x.stale {
		_ = x.Folder.Remove(n)
	}
}
