package box

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"syscall"
	"time"

	"capcli/profile"
)

const (
	firstRoom = 16 << 10
	mostRoom  = 1 << 20
	// openAgain is the time after which a file that could not be opened is tried again.
	openAgain = time.Minute
)

// kept is a file that stays open between looks.
type kept struct {
	name  string
	file  fs.File
	at    io.ReaderAt // nil where the file cannot be read at an offset: it is then opened each time
	why   profile.Reason
	retry time.Duration // time before which a file that could not be opened is not tried again
}

func keep(name string) kept { return kept{name: name} }

func (k *kept) close() {
	if k.file != nil {
		_ = k.file.Close() // it was only read
	}
	k.file, k.at = nil, nil
}

// read returns the content of a file, which is valid until the next read, or the reason why there is
// none. A file of the kernel tells its content anew at each read from its beginning.
func (b *box) read(k *kept) ([]byte, profile.Reason) {
	if k.file == nil {
		now := b.now()
		if k.why != profile.Known && now < k.retry {
			return nil, k.why
		}
		f, err := b.root.Open(k.name)
		if err != nil {
			k.why, k.retry = reasonOf(err), now+openAgain
			return nil, k.why
		}
		k.file, k.why = f, profile.Known
		k.at, _ = f.(io.ReaderAt)
	}
	text, err := b.content(k)
	if err != nil {
		k.close()
		k.why, k.retry = reasonOf(err), b.now()+openAgain
		return nil, k.why
	}
	if k.at == nil {
		k.close()
	}
	return text, profile.Known
}

func (b *box) content(k *kept) ([]byte, error) {
	for {
		var n int
		var err error
		if k.at != nil {
			n, err = k.at.ReadAt(b.room, 0)
		} else {
			n, err = io.ReadFull(k.file, b.room)
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		if n < len(b.room) || len(b.room) >= mostRoom || k.at == nil {
			return b.room[:n], nil
		}
		b.room = make([]byte, 2*len(b.room))
	}
}

// reasonOf returns why a file cannot be read. A kernel without pressure figures has no file of them, or
// one that cannot be read (EOPNOTSUPP); a file of a device that went away gives ENODEV.
func reasonOf(err error) profile.Reason {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.EOPNOTSUPP),
		errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOTDIR):
		return profile.Unsupported
	case errors.Is(err, fs.ErrPermission):
		return profile.NoPermission
	default:
		return profile.Failed
	}
}

// text returns the content of a file that is read once, without the line's end; "" where it cannot be
// read.
func (b *box) text(name string) string {
	k := keep(name)
	got, _ := b.read(&k)
	s := string(bytes.TrimRight(got, "\n\x00"))
	k.close()
	return s
}

func (b *box) has(name string) bool {
	_, err := fs.Stat(b.root, name)
	return err == nil
}

// number reads a whole number at the begin of s, after spaces, and returns what follows it. ok is false
// where there is none.
func number(s []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	from := i
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		d := uint64(s[i] - '0')
		if n > (1<<64-1-d)/10 {
			return 0, s, false
		}
		n = n*10 + d
	}
	return n, s[i:], i > from
}

// word returns the next word of s and what follows it.
func word(s []byte) (w, rest []byte) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	from := i
	for i < len(s) && s[i] != ' ' && s[i] != '\t' && s[i] != '\n' {
		i++
	}
	return s[from:i], s[i:]
}

// line returns the first line of s, without its end, and the lines that follow.
func line(s []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(s, []byte{'\n'})
	return first, rest
}

// valueOf returns the number on the line of s that begins with the word key.
func valueOf(s []byte, key string) (uint64, bool) {
	for len(s) > 0 {
		var l []byte
		l, s = line(s)
		if w, rest := word(l); string(w) == key {
			n, _, ok := number(rest)
			return n, ok
		}
	}
	return 0, false
}
