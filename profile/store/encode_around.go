package store

import (
	"encoding/binary"
	"math"
	"math/bits"

	"capcli"

	"capcli/profile"
)

// surroundings is what an encoder knows of the box itself, of the jobs on it and of what programs
// told. Like the encoder's, its memory is bounded.
type surroundings struct {
	host   last
	owners map[profile.Owner]uint64
	groups []last // by the number of the owner
	told   map[toldBy]uint64
	values []uint64 // bits of the last value of each reading
}

// toldBy is what one reading is of: it has the same number in all ticks.
type toldBy struct {
	owner  profile.Owner
	device int // its number in the segment; -1 where the reading has none
	name   string
}

func newSurroundings() surroundings {
	return surroundings{host: newLast(int(profile.NumHostMetrics)), owners: map[profile.Owner]uint64{}, told: map[toldBy]uint64{}}
}

func (s *surroundings) hasRoom() bool { return len(s.owners) < maxKnown && len(s.told) < maxKnown }

// surroundings appends the figures of the box, of the jobs on it and of what programs told, where t
// has any. A tick of a version that did not know them ends before.
func (e *encoder) surroundings(b []byte, t *profile.Tick) []byte {
	if !t.LookedAtHost && len(t.Groups)+len(t.Readings) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(t.Groups)<<1|capcli.Bit(t.LookedAtHost)))
	if t.LookedAtHost {
		b = appendFigures(b, hostGrids[:], t.Host.Values[:], t.Host.Why[:], &e.around.host)
	}
	for i := range t.Groups {
		g := &t.Groups[i]
		var n uint64
		b, n = e.owner(b, &g.Owner)
		b = appendFigures(b, groupGrids[:], g.Values[:], g.Why[:], &e.around.groups[n])
	}
	b = binary.AppendUvarint(b, uint64(len(t.Readings)))
	for i := range t.Readings {
		b = e.reading(b, &t.Readings[i])
	}
	return b
}

// owner appends the number of an owner and, at its first occurrence, its texts.
func (e *encoder) owner(b []byte, o *profile.Owner) ([]byte, uint64) {
	n, known := e.around.owners[*o]
	if !known {
		n = uint64(len(e.around.owners))
		e.around.owners[*o] = n
		e.around.groups = append(e.around.groups, newLast(int(profile.NumGroupMetrics)))
	}
	b = binary.AppendUvarint(b, n)
	if !known {
		for _, s := range [...]string{o.User, o.Container, o.Pod, o.Namespace, o.Job} {
			b = e.text(b, s)
		}
	}
	return b, n
}

// reading appends the number of what a reading is of, at its first occurrence the owner, the device
// and the name, and how the bits of its value differ from the last: those of a value that stays
// are 0, and the low bits of a round one, which come first here, are 0.
func (e *encoder) reading(b []byte, r *profile.Reading) []byte {
	of := toldBy{r.Owner, -1, r.Name}
	if r.Device != nil {
		of.device, _ = e.place(r.Device)
	}
	n, known := e.around.told[of]
	if !known {
		n = uint64(len(e.around.told))
		e.around.told[of] = n
		e.around.values = append(e.around.values, 0)
	}
	b = binary.AppendUvarint(b, n)
	if !known {
		b, _ = e.owner(b, &of.owner)
		b = binary.AppendUvarint(b, uint64(of.device+1))
		b = e.text(b, of.name)
	}
	now := math.Float64bits(r.Value)
	b = binary.AppendUvarint(b, bits.ReverseBytes64(now^e.around.values[n]))
	e.around.values[n] = now
	return b
}
