package store

import (
	"capcli/profile"
)

// surroundings adds the rows of t of the box itself, of the jobs on it and of what programs told.
func (r *rower) surroundings(t *profile.Tick) {
	if t.LookedAtHost {
		b := r.blocks[hostTable]
		b.int(hostTS, int64(t.At))
		for m := range profile.NumHostMetrics {
			b.metric(hostMetrics+int(m), t.Host.Values[m], t.Host.Why[m])
		}
		b.text(hostMissing, r.hostsMissing.words(t.Host.Why, t.Host.Why[:], hostNames))
		b.n++
	}
	for i := range t.Groups {
		g, b := &t.Groups[i], r.blocks[groupTable]
		b.int(groupTS, int64(t.At))
		b.owner(groupUser, &g.Owner)
		for m := range profile.NumGroupMetrics {
			b.metric(groupMetrics+int(m), g.Values[m], g.Why[m])
		}
		b.text(groupMissing, r.groupsMissing.words(g.Why, g.Why[:], groupNames))
		b.n++
	}
	for i := range t.Readings {
		if v := &t.Readings[i]; isFinite(v.Value) {
			r.reading(t.At, v)
		}
	}
}

func (r *rower) reading(at profile.Instant, v *profile.Reading) {
	b := r.blocks[readingTable]
	b.int(readingTS, int64(at))
	b.owner(readingUser, &v.Owner)
	uuid := ""
	if v.Device != nil {
		uuid = v.Device.UUID
	}
	b.text(readingUUID, uuid)
	b.text(readingName, v.Name)
	b.cols[readingValue].AddFloat(v.Value)
	b.n++
}

// owner adds the five columns of an owner, of which the first is col.
func (b *block) owner(col int, o *profile.Owner) {
	for i, s := range [...]string{o.User, o.Container, o.Pod, o.Namespace, o.Job} {
		b.text(col+i, s)
	}
}

func (b *block) ownerAt(col, row int) profile.Owner {
	return profile.Owner{
		User: b.textAt(col, row), Container: b.textAt(col+1, row), Pod: b.textAt(col+2, row), Namespace: b.textAt(col+3, row),
		Job: b.textAt(col+4, row),
	}
}

func hostRow(b *block, row int, t *profile.Tick) {
	t.LookedAtHost = true
	b.figures(row, hostMetrics, hostGrids[:], hostNames, t.Host.Values[:], t.Host.Why[:])
}

func groupRow(b *block, row int, t *profile.Tick) {
	g := t.NextGroup(b.ownerAt(groupUser, row))
	b.figures(row, groupMetrics, groupGrids[:], groupNames, g.Values[:], g.Why[:])
}

// figures sets values and why to the metrics of a row, of which the first is in column from and the
// column behind the last has the reasons. A metric that this one does not name is NotAsked: the
// version that wrote the file did not know it.
func (b *block) figures(row, from int, grids []grid, names []string, values []float64, why []profile.Reason) {
	missing := false
	for m, g := range grids {
		c := &b.cols[from+m]
		switch {
		case c.Null[row]:
			values[m], why[m], missing = 0, profile.NotAsked, true
		case c.Floats != nil:
			n, _ := g.steps(c.Floats[row]) // single precision is close enough to find the step
			values[m], why[m] = g.value(n), profile.Known
		default:
			values[m], why[m] = float64(c.Ints[row]), profile.Known
		}
	}
	if !missing {
		return
	}
	var told [64]profile.Reason
	reasonsOf(b.textAt(from+len(grids), row), names, told[:])
	for m := range grids {
		if why[m] != profile.Known && told[m] != profile.Known {
			why[m] = told[m]
		}
	}
}

// readingRow adds a reading to t. Its device is that of its UUID which the samples named last.
func (r *Reader) readingRow(b *block, row int, t *profile.Tick, q Query) {
	v := profile.Reading{Owner: b.ownerAt(readingUser, row), Name: b.textAt(readingName, row), Value: b.floatAt(readingValue, row)}
	if uuid := b.textAt(readingUUID, row); uuid != "" {
		if v.Device = r.uuids[uuid]; v.Device == nil {
			v.Device = &profile.Device{UUID: uuid, GI: -1, CI: -1}
			r.uuids[uuid] = v.Device
		}
		if !q.wants(v.Device) {
			return
		}
	}
	t.Readings = append(t.Readings, v)
}
