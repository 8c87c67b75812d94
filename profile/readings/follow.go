package readings

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
)

// Limits on a file.
const (
	mostPerLook = 256 << 10 // bytes that are read of a file at once
	mostBehind  = 8 << 20   // a file that has grown by more is read from its end
	mostLine    = 64 << 10  // bytes of a line; longer ones are passed over
	statEvery   = 5         // looks after which a file is asked whether its name is still its own
)

// Disk is where files are.
type Disk struct {
	Open func(name string) (fs.File, error)
	Stat func(name string) (fs.FileInfo, error)
	Same func(a, b fs.FileInfo) bool // reports whether both describe one file
}

// follower reads the lines that are added to a file. It survives that the file is renamed and made anew, cut to
// nothing, or not there yet; a line that has no end yet waits for it.
type follower struct {
	disk Disk
	name string

	file  fs.File
	at    int64 // where the next read begins
	begun bool  // the first file was opened; a later one is read from its beginning
	looks int
	buf   []byte
	rest  int  // bytes of an unfinished line at the start of buf
	skip  bool // the unfinished line is too long, or its beginning was not seen
}

// look calls each with the lines that were added since the last look. It fails where the file cannot be read; it may be
// called again.
func (f *follower) look(each func(line []byte)) error {
	if f.buf == nil {
		f.buf = make([]byte, mostLine+mostPerLook)
	}
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	err := f.read(each)
	if f.looks++; f.looks%statEvery == 0 && f.moved() {
		if err == nil {
			err = f.read(each) // what was written to the old file before it was renamed
		}
		f.close()
	}
	return err
}

// open opens the file: the first time at its end, as what it had before is past.
func (f *follower) open() error {
	file, err := f.disk.Open(f.name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			f.begun = true // what comes is new from its beginning
		}
		return err
	}
	if _, ok := file.(io.ReaderAt); !ok {
		_ = file.Close()
		return errors.New("it is no plain file")
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return errors.Join(err, errors.New("it is no plain file"))
	}
	f.file, f.at, f.rest, f.skip = file, 0, 0, false
	if !f.begun {
		f.at, f.skip = info.Size(), info.Size() > 0
		if f.skip { // the line before the end is whole if it ends there
			var last [1]byte
			if n, _ := file.(io.ReaderAt).ReadAt(last[:], f.at-1); n == 1 && last[0] == '\n' {
				f.skip = false
			}
		}
		f.begun = true
	}
	return nil
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}

// moved reports whether the name is now another file's, or nobody's.
func (f *follower) moved() bool {
	now, err := f.disk.Stat(f.name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	mine, err := f.file.Stat()
	return err != nil || !f.disk.Same(mine, now)
}

// read reads what was added.
func (f *follower) read(each func(line []byte)) error {
	n, err := f.file.(io.ReaderAt).ReadAt(f.buf[f.rest:f.rest+mostPerLook], f.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n == 0 || n == mostPerLook {
		info, err := f.file.Stat()
		switch {
		case err != nil:
			return err
		case info.Size() < f.at: // cut
			f.at, f.rest, f.skip = 0, 0, false
			return nil
		case info.Size()-f.at > mostBehind:
			f.at, f.rest, f.skip = info.Size()-mostPerLook/2, 0, true
			return nil
		}
	}
	f.at += int64(n)
	f.lines(f.rest+n, each)
	return nil
}

// lines passes on the whole lines in the first n bytes of buf and keeps the rest.
func (f *follower) lines(n int, each func(line []byte)) {
	b := f.buf[:n]
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			break
		}
		if !f.skip && end <= mostLine {
			each(b[:end])
		}
		f.skip = false
		b = b[end+1:]
	}
	if len(b) > mostLine {
		f.skip, b = true, nil
	}
	if f.skip {
		b = nil
	}
	f.rest = copy(f.buf, b)
}
