package decide

import (
	"bytes"
	"io/fs"
	"sync"
	"testing"

	"capcli/testdata/golden"
)

// counted is a Folder in memory that counts, and may damage what it returns.
type counted struct {
	lock         sync.Mutex
	files        map[string][]byte
	hits, misses int
	damage       bool
}

func (c *counted) Read(name string) ([]byte, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	b, ok := c.files[name]
	if !ok {
		c.misses++
		return nil, fs.ErrNotExist
	}
	c.hits++
	if c.damage {
		b = bytes.Clone(b)
		b[len(b)/2] ^= 1
	}
	return b, nil
}

func (c *counted) Write(name string, text []byte) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.files[name] = bytes.Clone(text)
	return nil
}

// TestCacheChangesNothing asks with an empty cache, a full one, a damaged one, after the log changed,
// and as another build: each answer is that without a cache. The same question again misses nothing.
func TestCacheChangesNothing(t *testing.T) {
	golden.SkipLong(t)
	cache := &counted{files: map[string][]byte{}}
	ask := func(m made, c Folder, build string) []byte {
		t.Helper()
		r, err := Decide(t.Context(), m.request(), &World{Open: opened(m.files()), Cache: c, Build: build})
		if err != nil {
			t.Fatal(err)
		}
		text, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		return append(text, r.Texts[planFile]...)
	}
	m, other := made{seed: 4, days: 30, fenced: true}, made{seed: 5, days: 30, fenced: true}
	want := ask(m, nil, "1")
	for _, step := range []string{"empty", "full", "damaged"} {
		cache.hits, cache.misses, cache.damage = 0, 0, step == "damaged"
		if got := ask(m, cache, "1"); !bytes.Equal(got, want) {
			t.Errorf("a cache that is %s changes the answer", step)
		}
		if step == "full" && (cache.misses > 0 || cache.hits == 0) {
			t.Errorf("the same question misses %d parts and finds %d", cache.misses, cache.hits)
		}
	}
	cache.damage = false
	own := len(cache.files)
	if got := ask(other, cache, "1"); !bytes.Equal(got, ask(other, nil, "1")) {
		t.Error("another log is answered from the cache of the first")
	}
	before := len(cache.files)
	if ask(m, cache, "2"); len(cache.files) != before+own {
		t.Errorf("another build keeps %d parts of its own, want all %d", len(cache.files)-before, own)
	}
}
