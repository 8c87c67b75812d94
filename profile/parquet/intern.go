package parquet

import "encoding/binary"

// names makes texts out of bytes: one copy of each that comes often, or, for a
// column of ids, none kept.
type names struct {
	once  bool // each text comes once: nothing is gained by knowing it
	known map[string]string
}

// What is remembered: so many texts, and none that is longer.
const (
	maxNames = 1 << 16
	maxName  = 256
)

func (n *names) intern(b []byte) string {
	if n.once || len(b) > maxName {
		return string(b)
	}
	if s, ok := n.known[string(b)]; ok {
		return s
	}
	if n.known == nil || len(n.known) >= maxNames {
		n.known = map[string]string{}
	}
	s := string(b)
	n.known[s] = s
	return s
}

// cut fills dst from texts that each follow their length in four bytes. Texts
// that come once are cut from one copy of b.
func (n *names) cut(dst []string, b []byte) {
	if !n.once {
		for k := range dst {
			end := 4 + binary.LittleEndian.Uint32(b)
			dst[k] = n.intern(b[4:end])
			b = b[end:]
		}
		return
	}
	all := string(b)
	at := 4
	for k := range dst {
		end := at + int(binary.LittleEndian.Uint32(b[at-4:]))
		dst[k] = all[at:end]
		at = end + 4
	}
}
