package bucket

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"capcli/profile/store"
)

const (
	// wholeBytes is the size up to which a file is read at once. It is then checked against its seal.
	wholeBytes = 512 << 10
	// tailBytes is read of the end of a larger file: more than the footer of most.
	tailBytes = 128 << 10
	// gapBytes is how far apart two ranges may be that are read in one request.
	gapBytes = 64 << 10
	// sequenceBytes is read at once of a file that is read from one end to the other.
	sequenceBytes = 4 << 20
	// cacheBytes is the most that the beginnings of open and ended files hold in memory.
	cacheBytes = 96 << 20
	// aheadBytes is the most that is read ahead at once.
	aheadBytes = 32 << 20
)

// remote is a file in a bucket and its tail.
type remote struct {
	d   *disk
	key string
	object
	once sync.Once
	tail piece
	err  error
}

// piece is a part of a file in memory.
type piece struct {
	off  int64
	data []byte
}

func (p *piece) holds(off, n int64) bool {
	return off >= p.off && off+n <= p.off+int64(len(p.data))
}

// tailSize is the number of bytes that load reads.
func (o object) tailSize() int64 {
	if o.size <= wholeBytes {
		return o.size
	}
	return tailBytes
}

// load reads the tail on the first call.
func (r *remote) load() error {
	r.once.Do(func() {
		n := r.tailSize()
		r.tail.off = r.size - n
		if n > 0 {
			r.tail.data, r.err = r.d.fetch(r.key, r.tag, r.tail.off, n)
		}
	})
	return r.err
}

// fileCache keeps files with their tails, the oldest of which it forgets.
type fileCache struct {
	mu    sync.Mutex
	files map[string]*remote
	order []string
	bytes int64
}

// file returns the file of a name that is listed. It makes no request for it.
func (d *disk) file(name string) (*remote, error) {
	f := d.folder(path.Dir(name))
	if f.err != nil {
		return nil, f.err
	}
	o, ok := f.objects[path.Base(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: d.String() + "/" + name, Err: fs.ErrNotExist}
	}
	c := &d.files
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.files[name]; r != nil {
		return r, nil
	}
	for len(c.order) > 0 && c.bytes+o.tailSize() > cacheBytes {
		c.bytes -= c.files[c.order[0]].tailSize()
		delete(c.files, c.order[0])
		c.order = c.order[1:]
	}
	r := &remote{d: d, key: d.prefix + strings.Trim(name, "/"), object: o}
	c.files[name], c.order, c.bytes = r, append(c.order, name), c.bytes+o.tailSize()
	return r, nil
}

// OpenAhead implements store.FarDisk.
func (d *disk) OpenAhead(names []string) {
	budget := int64(aheadBytes)
	for _, name := range names {
		r, err := d.file(name)
		if err != nil {
			return // Open reports it
		}
		if budget -= r.tailSize(); budget < 0 {
			return
		}
		go r.load() //nolint:errcheck // the reader asks again and gets the error
	}
}

// Open implements store.Disk. A large file is a store.PartReading.
func (d *disk) Open(name string) (store.Reading, error) {
	r, err := d.file(name)
	if err != nil {
		return nil, err
	}
	if r.size <= wholeBytes {
		return &wholeReading{r}, nil
	}
	return &partReading{remote: r}, nil
}

// wholeReading reads a file that is in memory as a whole.
type wholeReading struct{ *remote }

func (r *wholeReading) Close() error         { return nil }
func (r *wholeReading) Size() (int64, error) { return r.size, nil }

func (r *wholeReading) ReadAt(p []byte, off int64) (int, error) {
	if err := r.load(); err != nil {
		return 0, err
	}
	return copyAt(p, &r.tail, off)
}

// copyAt copies what a piece has at off to p. It returns io.EOF where that is less.
func copyAt(p []byte, from *piece, off int64) (int, error) {
	at := off - from.off
	if at < 0 || at > int64(len(from.data)) {
		return 0, io.EOF
	}
	n := copy(p, from.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// partReading reads parts of a file. It must be used by one goroutine.
type partReading struct {
	*remote
	parts []piece // what Want asked for
	last  piece   // what was read beside that
}

var _ store.PartReading = (*partReading)(nil)

func (r *partReading) Close() error {
	r.parts, r.last = nil, piece{}
	return nil
}

func (r *partReading) Size() (int64, error) { return r.size, nil }

// ReadAt implements io.ReaderAt.
func (r *partReading) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), r.size-off)
	if off < 0 || n < 0 {
		return 0, errors.New("reading outside the file")
	}
	for i := range r.parts {
		if r.parts[i].holds(off, n) {
			return copyAt(p, &r.parts[i], off)
		}
	}
	if off >= r.size-tailBytes {
		if err := r.load(); err != nil {
			return 0, err
		}
		return copyAt(p, &r.tail, off)
	}
	if !r.last.holds(off, n) {
		much := max(n, tailBytes)
		if off == r.last.off+int64(len(r.last.data)) { // it is read from one end to the other
			much = max(n, sequenceBytes)
		}
		data, err := r.d.fetch(r.key, r.tag, off, min(much, r.size-off))
		if err != nil {
			return 0, err
		}
		r.last = piece{off, data}
	}
	return copyAt(p, &r.last, off)
}

// Want implements store.PartReading. It reads ranges that are close to each other in one request,
// and several at once.
func (r *partReading) Want(ranges [][2]int64) error {
	wanted := joinRanges(ranges, r.size)
	r.parts = make([]piece, len(wanted))
	errs := make([]error, len(wanted))
	var all sync.WaitGroup
	for i, w := range wanted {
		all.Go(func() {
			data, err := r.d.fetch(r.key, r.tag, w[0], w[1])
			r.parts[i], errs[i] = piece{w[0], data}, err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// joinRanges returns the ranges, each an offset and a length, with those joined that are close to
// each other, in order of offset.
func joinRanges(ranges [][2]int64, size int64) [][2]int64 {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	var joined [][2]int64
	for _, r := range ranges {
		from, to := r[0], min(r[0]+r[1], size)
		if from >= to {
			continue
		}
		if k := len(joined) - 1; k >= 0 && from <= joined[k][0]+joined[k][1]+gapBytes {
			joined[k][1] = max(joined[k][1], to-joined[k][0])
		} else {
			joined = append(joined, [2]int64{from, to - from})
		}
	}
	return joined
}
