package parquet

import "encoding/binary"

// names makes strings from bytes. Equal strings share one copy, except in a column of ids.
type names struct {
	once  bool // each text occurs once: copies are not kept
	known map[string]string
}

// Bounds on the kept copies: their number, and the bytes of one.
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

// cut fills dst with the texts of b, each of which follows its length in four bytes. Texts that
// occur once share one copy of b.
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
