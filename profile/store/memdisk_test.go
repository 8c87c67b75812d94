package store

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// memDisk is a Disk in memory that fails when told, and that can lose its power:
// then only what was synced is left, contents by Sync and names by SyncDir.
type memDisk struct {
	mu      sync.Mutex
	files   map[string]*memFile
	dirs    map[string]bool
	lasting map[string]*memFile // names as they were synced
	renames [][2]string         // of folders, not yet lasting
	locks   map[string]string
	calls   int // that change something
	failAt  int // the call that fails; 0 is none
	forever bool
	fault   error
	half    bool // a write that fails wrote half
}

type memFile struct {
	data   []byte
	synced []byte
}

func newMemDisk() *memDisk {
	return &memDisk{files: map[string]*memFile{}, dirs: map[string]bool{}, lasting: map[string]*memFile{}, locks: map[string]string{}}
}

var errCrashed = errors.New("crashed")

// turn counts a call and tells whether it fails.
func (d *memDisk) turn() error {
	d.calls++
	if d.failAt > 0 && (d.calls == d.failAt || d.forever && d.calls > d.failAt) {
		return d.fault
	}
	return nil
}

func (d *memDisk) Create(name string) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.turn(); err != nil {
		return nil, err
	}
	if !d.dirs[path.Dir(name)] {
		return nil, fs.ErrNotExist
	}
	f := &memFile{}
	d.files[name] = f
	return &memWriting{d, f}, nil
}

type memWriting struct {
	d *memDisk
	f *memFile
}

func (w *memWriting) Write(p []byte) (int, error) {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	if err := w.d.turn(); err != nil {
		n := 0
		if w.d.half {
			n = len(p) / 2
			w.f.data = append(w.f.data, p[:n]...)
		}
		return n, err
	}
	w.f.data = append(w.f.data, p...)
	return len(p), nil
}

func (w *memWriting) Sync() error {
	w.d.mu.Lock()
	defer w.d.mu.Unlock()
	if err := w.d.turn(); err != nil {
		return err
	}
	w.f.synced = slices.Clone(w.f.data)
	return nil
}

func (w *memWriting) Close() error { return nil }

type memReading struct{ data []byte }

func (r *memReading) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(r.data)) {
		return 0, io.EOF
	}
	n := copy(p, r.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
func (r *memReading) Close() error         { return nil }
func (r *memReading) Size() (int64, error) { return int64(len(r.data)), nil }

func (d *memDisk) Open(name string) (Reading, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &memReading{slices.Clone(f.data)}, nil
}

func (d *memDisk) List(dir string) ([]Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := map[string]bool{}
	add := func(name string, folder bool) {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			first, _, more := strings.Cut(rest, "/")
			seen[first] = seen[first] || more || folder
		}
	}
	for name := range d.files {
		add(name, false)
	}
	for name := range d.dirs {
		add(name, true)
	}
	var entries []Entry
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		one := Entry{Name: name, Dir: seen[name]}
		if f := d.files[dir+"/"+name]; f != nil {
			one.Size = int64(len(f.data))
		}
		entries = append(entries, one)
	}
	return entries, nil
}

func (d *memDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.turn(); err != nil {
		return err
	}
	if d.dirs[from] {
		d.renames = append(d.renames, [2]string{from, to})
		moveDir(d.files, from, to)
		for dir := range maps.Clone(d.dirs) {
			if rest, ok := strings.CutPrefix(dir+"/", from+"/"); ok {
				delete(d.dirs, dir)
				d.dirs[path.Join(to, rest)] = true
			}
		}
		return nil
	}
	f, ok := d.files[from]
	if !ok {
		return fs.ErrNotExist
	}
	delete(d.files, from)
	d.files[to] = f
	return nil
}

// moveDir renames the folder of files.
func moveDir(files map[string]*memFile, from, to string) {
	for name, f := range maps.Clone(files) {
		if rest, ok := strings.CutPrefix(name, from+"/"); ok {
			delete(files, name)
			files[path.Join(to, rest)] = f
		}
	}
}

func (d *memDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.turn(); err != nil {
		return err
	}
	if d.dirs[name] {
		if d.holdsAny(name) {
			return errors.New("the folder is not empty")
		}
		delete(d.dirs, name)
		return nil
	}
	if _, ok := d.files[name]; !ok {
		return fs.ErrNotExist
	}
	delete(d.files, name)
	return nil
}

// holdsAny tells whether there is anything in a folder.
func (d *memDisk) holdsAny(dir string) bool {
	for name := range d.files {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	for name := range d.dirs {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func (d *memDisk) MakeDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs[dir] {
		return nil
	}
	if err := d.turn(); err != nil {
		return err
	}
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		d.dirs[dir] = true
	}
	return nil
}

func (d *memDisk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.turn(); err != nil {
		return err
	}
	d.renames = slices.DeleteFunc(d.renames, func(r [2]string) bool { // the sync of either folder keeps all of it
		if path.Dir(r[0]) != dir && path.Dir(r[1]) != dir {
			return false
		}
		moveDir(d.lasting, r[0], r[1])
		return true
	})
	maps.DeleteFunc(d.lasting, func(name string, _ *memFile) bool { return path.Dir(name) == dir })
	for name, f := range d.files {
		if path.Dir(name) == dir {
			d.lasting[name] = f
		}
	}
	return nil
}

type memLock struct {
	d    *memDisk
	name string
}

func (l memLock) Close() error {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	delete(l.d.locks, l.name)
	return nil
}

func (d *memDisk) Lock(name, holder string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if who, held := d.locks[name]; held {
		return nil, &lockedError{name, who}
	}
	d.locks[name] = holder
	return memLock{d, name}, nil
}

// diskAfterLoss gives the disk as it is after the program was killed or, with power, as
// it is after a loss of power.
func (d *memDisk) diskAfterLoss(power bool) *memDisk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := newMemDisk()
	n.dirs = maps.Clone(d.dirs)
	files := d.files
	if power {
		files = d.lasting
	}
	for name, f := range files {
		data := f.data
		if power {
			data = f.synced
		}
		c := &memFile{data: slices.Clone(data), synced: slices.Clone(data)}
		n.files[name], n.lasting[name] = c, c
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) { // its renaming may be lost
			n.dirs[dir] = true
		}
	}
	return n
}

// synced tells whether all that was written to segments is.
func (d *memDisk) synced() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failAt > 0 && d.calls >= d.failAt {
		return true // it never will be
	}
	for name, f := range d.files {
		if strings.HasSuffix(name, logSuffix) && (len(f.synced) < len(f.data) || d.lasting[name] != f) {
			return false
		}
	}
	return true
}

var errFull = &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}

// names returns the names of all files.
func (d *memDisk) names() iter.Seq[string] {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Keys(maps.Clone(d.files))
}
