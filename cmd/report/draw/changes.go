package draw

import (
	"math"

	"capcli/scenarios/figure"
)

// step is a bar of a waterfall.
type step struct {
	from, to float64
	known    bool
	total    bool
}

// steps returns the bars of a waterfall: the first and the last stand on zero, each change on what the
// ones before add up to. off is how far the last total is from this sum.
func (s *sketch) steps() (out []step, off float64) {
	values := s.f.Series[0].Y
	sum := 0.0
	for i, v := range values {
		one := step{known: drawable(v), total: i == 0 || i == len(values)-1}
		switch {
		case !one.known:
			one.from, one.to = sum, sum
		case one.total:
			one.to = float64(v)
			if i > 0 {
				off = one.to - sum
			}
			sum = one.to
		default:
			one.from, one.to = sum, sum+float64(v)
			sum = one.to
		}
		out = append(out, one)
	}
	return out, off
}

func (s *sketch) paintWaterfall() {
	s.noteHuge()
	bars, off := s.steps()
	y := emptySpan()
	known := 0
	for _, b := range bars {
		if b.known {
			y.add(b.from)
			y.add(b.to)
			known++
		}
	}
	if known == 0 {
		s.noData()
		return
	}
	if known < len(bars) {
		s.note("%s unknown, marked n/a: the bars need not add up.", plural(len(bars)-known, "value")+" "+verb(len(bars)-known, "is", "are"))
	} else if math.Abs(off) > 1e-6*math.Max(math.Abs(y.lo), math.Abs(y.hi)) {
		s.note("The last total differs from the sum of the bars before it by %s.", s.f.Y.Unit.Text(figure.Number(off)))
	}
	y.add(0)
	l := s.newLedge(y, false)
	s.legend = []Entry{
		{theme[totalRole].class, "total", Solid},
		{theme[upRole].class, "more", Solid},
		{theme[downRole].class, "less", Solid},
	}
	one := &s.f.Series[0]
	gap := math.Max(math.Min(l.step*0.3, 24), l.step-maxBarWidth)
	for i, b := range bars[:l.names] {
		from, to := l.slot(i)
		a, z := from+gap/2, to-gap/2
		r := totalRole
		switch {
		case b.total:
		case b.to >= b.from:
			r = upRole
		default:
			r = downRole
		}
		if i > 0 {
			s.c.line([]point{l.pixelAt(a-gap, bars[i-1].to), l.pixelAt(a, bars[i-1].to)}, pen{role: axisRole, width: 1})
		}
		text := shortText(s.f.Y.Unit, one.Y[i])
		if !b.total && b.known && b.to > b.from {
			text = "+" + text
		}
		if b.known {
			s.c.box(l.bar(a, z, b.from, b.to), paint{role: r, opacity: 0.9}, s.f.X.Names[i]+": "+s.f.Y.Unit.Text(one.Y[i]))
		}
		s.labelEnd(l, text, (a+z)/2, z-a, math.Max(b.from, b.to))
	}
	s.drawMarks(l.values, s.x.pixel, l.flip)
}

func (s *sketch) paintTornado() {
	s.noteHuge()
	one := &s.f.Series[0]
	y := emptySpan()
	for i := range s.f.X.Names {
		for _, v := range []figure.Number{one.Lo[i], one.Hi[i]} {
			if drawable(v) {
				y.add(float64(v))
			}
		}
	}
	if y.isEmpty() {
		s.noData()
		return
	}
	base, known := s.tornadoBase(&y)
	pad := (y.hi - y.lo) * 0.14
	y = span{y.lo - pad, y.hi + pad}
	l := s.newLedge(y, true)
	s.legend = []Entry{{theme[downRole].class, "at the low value", Solid}, {theme[upRole].class, "at the high value", Solid}}
	for i := range l.names {
		from, to := l.slot(i)
		a, z := from+4, to-4
		lo, hi := one.Lo[i], one.Hi[i]
		center, both := base, drawable(lo) && drawable(hi)
		if !known {
			center = (y.lo + y.hi) / 2
			if both {
				center = float64(lo+hi) / 2
			}
		}
		for _, end := range []struct {
			v    figure.Number
			r    role
			name string
		}{{lo, downRole, "low"}, {hi, upRole, "high"}} {
			if !both && !(known && drawable(end.v)) {
				s.labelEnd(l, "n/a", (a+z)/2, z-a, center)
				continue
			}
			s.c.box(l.bar(a, z, center, float64(end.v)), paint{role: end.r, opacity: 0.9}, s.f.X.Names[i]+", "+end.name+": "+s.f.Y.Unit.Text(end.v))
		}
		s.labelTornado(l, i, (a+z)/2)
	}
	s.drawMarks(l.values, s.x.pixel, true)
}

// tornadoBase returns the mark on y, around which the bars lie, and widens y to it.
func (s *sketch) tornadoBase(y *span) (base float64, known bool) {
	for _, m := range s.f.Marks {
		if m.Axis == "y" && drawable(m.At) {
			y.add(float64(m.At))
			return float64(m.At), true
		}
	}
	return 0, false
}

// labelTornado writes the values of both ends of bar i beyond them.
func (s *sketch) labelTornado(l ledge, i int, middle float64) {
	lo, hi := s.f.Series[0].Lo[i], s.f.Series[0].Hi[i]
	if !drawable(lo) || !drawable(hi) {
		return
	}
	left, right := lo, hi
	if lo > hi {
		left, right = hi, lo
	}
	t := lettering{size: 11, anchor: endAnchor, halo: true}
	s.write(point{l.values.pixel(float64(left)) - 4, middle + 4}, shortText(s.f.Y.Unit, left), t)
	t.anchor = startAnchor
	s.write(point{l.values.pixel(float64(right)) + 4, middle + 4}, shortText(s.f.Y.Unit, right), t)
}
