package main

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"capcli"
	"capcli/cmd/files"
)

// shardFolder is a folder for the files of a sweep, on disk.
type shardFolder struct {
	e   *env
	dir string
}

func (f shardFolder) path(name string) string { return filepath.Join(f.dir, name) }

// Names lists what is in the folder, by name.
func (f shardFolder) Names() ([]string, error) {
	opened, err := f.e.disk.Open(f.dir)
	if err != nil {
		return nil, cannotOpen(f.dir, err)
	}
	defer func() { _ = opened.Close() }()
	d, ok := opened.(fs.ReadDirFile)
	if !ok {
		return nil, &capcli.InputError{File: f.dir, Text: "expected a folder, found a file"}
	}
	entries, err := d.ReadDir(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, cannotOpen(f.dir, err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(names)
	return names, nil
}

// Read reads a file whole, at most so many bytes of it.
func (f shardFolder) Read(name string, most int64) ([]byte, error) {
	return readFile(f.e, f.path(name), most)
}

// Create makes a new file.
func (f shardFolder) Create(name string) (io.WriteCloser, error) {
	to, err := f.e.disk.Create(f.path(name), 0o666)
	if err != nil {
		return nil, &files.WriteError{Path: f.path(name), Err: err}
	}
	return &shardJournal{to, f.path(name)}, nil
}

// Replace gives a file what write writes: all of it or nothing.
func (f shardFolder) Replace(name string, write func(w io.Writer) error) error {
	out, err := f.e.create(f.path(name))
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := write(out); err != nil {
		return out.Failed(err)
	}
	return out.Commit()
}

// Remove takes a file away.
func (f shardFolder) Remove(name string) error { return f.e.disk.Remove(f.path(name)) }

// shardJournal is a journal whose errors say that what was finished is kept.
type shardJournal struct {
	to   io.WriteCloser
	path string
}

func (j *shardJournal) Write(p []byte) (int, error) {
	n, err := j.to.Write(p)
	return n, j.failed(err)
}

func (j *shardJournal) Close() error { return j.failed(j.to.Close()) }

func (j *shardJournal) failed(err error) error {
	if err == nil {
		return nil
	}
	return &files.WriteError{Path: j.path, Err: err, Hint: "what was finished is kept: run the shard again"}
}
