package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// Opened records the names of the files that were opened.
type Opened struct {
	lock  sync.Mutex
	names []string
}

// Watch makes o record every file that d opens from now on.
func (o *Opened) Watch(d *Disk) {
	open := d.Open
	d.Open = func(name string) (fs.File, error) {
		f, err := open(name)
		if err == nil {
			o.lock.Lock()
			defer o.lock.Unlock()
			o.names = append(o.names, name)
		}
		return f, err
	}
}

// Sum is the name of a file and the SHA-256 of its content, in hexadecimal.
type Sum struct{ Name, SHA256 string }

// Sums returns the recorded files with the SHA-256 of their present content, sorted by name.
func (o *Opened) Sums(d *Disk) ([]Sum, error) {
	o.lock.Lock()
	names := slices.Clone(o.names)
	o.lock.Unlock()
	slices.Sort(names)
	var out []Sum
	for _, name := range slices.Compact(names) {
		f, err := d.Open(name)
		if err != nil {
			return nil, OpenError(name, err)
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		out = append(out, Sum{name, hex.EncodeToString(sum.Sum(nil))})
	}
	return out, nil
}
