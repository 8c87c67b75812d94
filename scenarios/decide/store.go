package decide

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"

	"capcli/profile/logs/trace"
	"capcli/profile/store"
)

// Folder is where files are kept by name.
type Folder interface {
	// Read returns a file; an error where there is none.
	Read(name string) ([]byte, error)
	// Write writes a file as a whole: a reader never sees a part of it.
	Write(name string, text []byte) error
}

// World is what the chain needs of the outside.
type World struct {
	// Open opens inputs. Relative names are seen from the folder of the documents.
	Open trace.Opener
	// IsFolder reports whether an input is a folder or a bucket, and Folder opens it; nil is none, and those of the
	// system's disk.
	IsFolder func(name string) bool
	Folder   func(name string) (store.Folder, error)
	// Documents takes the documents of the steps; nil keeps them in memory alone.
	Documents Folder
	// Cache keeps what earlier questions computed; nil keeps nothing beyond this question.
	Cache Folder
	// Paper makes the page of a meeting from documents, as capcli report does; nil makes none.
	Paper   func(open trace.Opener, documents []string, command string) ([]byte, error)
	Head    string // first lines of the scenario, for editors
	Version string // of the program
	Build   string // identifies the program: another one computes anew

	Note     func(text string)                            // receives remarks; may be nil
	Step     func(number, of int, name string)            // says which step begins; may be nil
	Progress func(unit string) (at, end func(done int64)) // starts a count; may be nil
}

func (w *World) note(text string) {
	if w.Note != nil {
		w.Note(text)
	}
}

func (w *World) progress(unit string) (at, end func(done int64)) {
	if w.Progress == nil {
		return func(int64) {}, func(int64) {}
	}
	return w.Progress(unit)
}

// kept is a mix.Memory over a folder. A file is named by the hash of its key and holds the hash of
// its content, so a damaged file counts as none.
type kept struct {
	folder  Folder
	version string
	note    func(text string)
}

// Load returns what is kept under a key.
func (k *kept) Load(key string) ([]byte, bool) {
	b, err := k.folder.Read(k.name(key))
	if err != nil || len(b) < sha256.Size {
		return nil, false
	}
	sum, part := b[:sha256.Size], b[sha256.Size:]
	if got := sha256.Sum256(part); !bytes.Equal(got[:], sum) {
		return nil, false
	}
	return part, true
}

// Store keeps a part under a key. A failure is noted once: the part is computed again next time.
func (k *kept) Store(key string, part []byte) {
	sum := sha256.Sum256(part)
	if err := k.folder.Write(k.name(key), append(sum[:], part...)); err != nil && k.note != nil {
		k.note(fmt.Sprintf("the cache cannot be written: %v", err))
		k.note = nil
	}
}

func (k *kept) name(key string) string { return hashOf([]byte(k.version), []byte(key)) }

// hashOf returns the hash of some texts, in hexadecimal. The lengths are part of it.
func hashOf(texts ...[]byte) string {
	h := sha256.New()
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "%d:", len(t)) // a hash never fails
		_, _ = h.Write(t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// files are the documents of a step, with what the step said.
type files struct {
	Texts map[string][]byte
	Notes []string
}

// recall returns the files of a step from the cache, or computes and keeps them. parts name all that
// they depend on.
func (c *chain) recall(parts []string, compute func() (*files, error)) (*files, error) {
	texts := [][]byte{[]byte("step")}
	for _, p := range parts {
		texts = append(texts, []byte(p))
	}
	key := hashOf(texts...)
	if c.memory != nil {
		if b, ok := c.memory.Load(key); ok {
			var f files
			if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&f); err == nil {
				return &f, nil
			}
		}
	}
	f, err := compute()
	if err != nil || c.memory == nil {
		return f, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(f); err == nil {
		c.memory.Store(key, b.Bytes())
	}
	return f, nil
}

// inMemory is a Folder in memory.
type inMemory struct{ files sync.Map }

func (m *inMemory) Read(name string) ([]byte, error) {
	b, ok := m.files.Load(name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	return b.([]byte), nil //nolint:forcetypeassert // only Write stores
}

func (m *inMemory) Write(name string, text []byte) error {
	m.files.Store(name, text)
	return nil
}
