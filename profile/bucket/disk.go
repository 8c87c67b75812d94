package bucket

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"capcli/profile/store"
)

// disk reads a bucket as a store.FarDisk. It lists each folder once, so that it shows the bucket as
// it was then. It may be used by several goroutines.
type disk struct {
	*Bucket
	mu      sync.Mutex
	folders map[string]*folder // by name, without the prefix
	files   fileCache
}

// folder is a listed folder, or one that is being listed.
type folder struct {
	done    chan struct{}
	err     error
	entries []store.Entry
	objects map[string]object  // files by name
	below   map[string]*folder // folders by name, where they were listed at once
}

// Disk returns the folder for reading. Everything that would change it fails.
func (b *Bucket) Disk() store.FarDisk {
	return &disk{Bucket: b, folders: map[string]*folder{}, files: fileCache{files: map[string]*remote{}}}
}

// errReadOnly is the error of everything that would change a bucket.
var errReadOnly = errors.New("a bucket can only be read")

func (d *disk) Create(name string) (store.File, error) { return nil, d.readOnly("create", name) }
func (d *disk) Rename(from, _ string) error            { return d.readOnly("rename", from) }
func (d *disk) Remove(name string) error               { return d.readOnly("remove", name) }
func (d *disk) MakeDir(dir string) error               { return d.readOnly("create", dir) }
func (d *disk) SyncDir(dir string) error               { return d.readOnly("sync", dir) }

func (d *disk) Lock(name, _ string) (io.Closer, error) { return nil, d.readOnly("lock", name) }

func (d *disk) readOnly(op, name string) error {
	return &fs.PathError{Op: op, Path: d.String() + "/" + name, Err: errReadOnly}
}

// List implements store.Disk.
func (d *disk) List(dir string) ([]store.Entry, error) {
	f := d.folder(dir)
	return slices.Clone(f.entries), f.err
}

// ListAhead implements store.FarDisk.
func (d *disk) ListAhead(dirs []string) {
	for _, dir := range dirs {
		go d.folder(dir)
	}
}

// folder returns a listed folder. It lists it where nobody did.
func (d *disk) folder(dir string) *folder {
	if dir = strings.Trim(dir, "/"); dir == "." {
		dir = ""
	}
	d.mu.Lock()
	f := d.folders[dir]
	known := f != nil
	if !known {
		f = &folder{done: make(chan struct{})}
		d.folders[dir] = f
	}
	day := d.folders[path.Dir(dir)]
	d.mu.Unlock()
	if known {
		<-f.done
		return f
	}
	defer close(f.done)
	if !d.mayExist(f, dir) {
		return f
	}
	if day != nil && isDay(path.Dir(dir)) {
		<-day.done
		if f.err = day.err; f.err == nil && day.below[path.Base(dir)] != nil {
			f.entries, f.objects = day.below[path.Base(dir)].entries, day.below[path.Base(dir)].objects
		}
		return f
	}
	f.err = d.list(f, dir)
	return f
}

// mayExist reports whether dir lies in one of the folders of the root, which one request lists.
func (d *disk) mayExist(f *folder, dir string) bool {
	if dir == "" {
		return true
	}
	top := d.folder("")
	first, _, _ := strings.Cut(dir, "/")
	f.err = top.err
	return f.err == nil && slices.ContainsFunc(top.entries, func(e store.Entry) bool { return e.Dir && e.Name == first })
}

// isDay reports whether a folder is that of a day, of which all hosts are listed at once.
func isDay(dir string) bool { return strings.HasPrefix(dir, "date=") && !strings.Contains(dir, "/") }

func (d *disk) list(f *folder, dir string) error {
	prefix := d.prefix
	if dir != "" {
		prefix += dir + "/"
	}
	f.objects, f.below = map[string]object{}, map[string]*folder{}
	err := d.walk(prefix, isDay(dir), func(key string, o object) { f.add(strings.TrimPrefix(key, prefix), o) })
	f.enter()
	return err
}

func (f *folder) add(name string, o object) {
	first, rest, deep := strings.Cut(name, "/")
	switch {
	case first == "": // the folder itself, as some programs mark it
	case !deep:
		f.objects[first] = o
	default:
		if f.below[first] == nil {
			f.below[first] = &folder{objects: map[string]object{}, below: map[string]*folder{}}
		}
		if rest != "" {
			f.below[first].add(rest, o)
		}
	}
}

// enter sets the entries to what was added, in order of name.
func (f *folder) enter() {
	for name, o := range f.objects {
		f.entries = append(f.entries, store.Entry{Name: name, Size: o.size})
	}
	for name, b := range f.below {
		f.entries = append(f.entries, store.Entry{Name: name, Dir: true})
		b.enter()
	}
	slices.SortFunc(f.entries, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
}
