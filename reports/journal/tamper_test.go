package journal

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/event"
	"github.com/stalepage/stalepage/engine/wire"
)

// unpack and repack are what someone with a text editor does: the frame's own checksum is right again.
func unpack(tb testing.TB, data []byte) string {
	tb.Helper()
	decoder, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	defer decoder.Close()
	out, err := io.ReadAll(decoder)
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

func repack(tb testing.TB, content string) []byte {
	tb.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return encoder.EncodeAll([]byte(content), nil)
}

// rehashed is content with a footer that is true of everything before its hash, as a careful forger would have it.
func rehashed(tb testing.TB, content string) []byte {
	tb.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(content, "\n"), "\n")
	body := strings.Join(lines[:len(lines)-1], "")
	w := &Writer{}
	w.sum = newHash(body)
	return repack(tb, body+string(appendFooter(nil, Footer{Events: int64(len(lines) - 2), Steps: 31, Tick: 99}, w.sum)))
}

// An edited journal is found out, whichever line was edited.
func TestEditedContent(t *testing.T) {
	decode := wire.Addr{Role: wire.Decode, Incarnation: 1}
	events := []event.Event{
		{Kind: event.PagesReserved, Tick: 5, Source: decode, Room: 3, Pages: []wire.Page{1, 2, 3}},
		{Kind: event.ResponseReceived, Tick: 8, Room: 3, Status: 200, Output: []wire.Token{7, 8}},
	}
	content := unpack(t, written(t, events, Options{}))
	footer := content[strings.LastIndex(content, closedLine):]
	if _, _, _, err := read(repack(t, content)); err != nil {
		t.Fatal("the unedited control: ", err)
	}
	replace := func(old, new string) string {
		if !strings.Contains(content, old) {
			t.Fatalf("nothing to replace: %q", old)
		}
		return strings.Replace(content, old, new, 1)
	}
	for name, test := range map[string]struct {
		content string
		want    error
	}{
		"a status":                   {replace(`"status":200`, `"status":503`), ErrTampered},
		"a page":                     {replace(`"pages":"1+2"`, `"pages":"1+3"`), ErrTampered},
		"the seed":                   {replace(`"seed":18446744073709551615`, `"seed":18446744073709551614`), ErrTampered},
		"the plan":                   {replace(`"first":1`, `"first":2`), ErrTampered},
		"the footer's steps":         {replace(`"steps":31`, `"steps":32`), ErrTampered},
		"the footer's tick":          {replace(`"steps":31,"tick":99`, `"steps":31,"tick":98`), ErrTampered},
		"the footer's count":         {replace(`"events":2`, `"events":3`), ErrTampered},
		"a line removed":             {replace(string(AppendEvent(nil, &events[0]))+"\n", ""), ErrTampered},
		"no footer":                  {strings.TrimSuffix(content, footer), ErrTruncated},
		"footer without its newline": {strings.TrimSuffix(content, "\n"), ErrTruncated},
		"footer cut":                 {content[:len(content)-20], ErrTruncated},
		"footer twice":               {content + footer, ErrTampered},
		"an event after the footer":  {content + string(AppendEvent(nil, &events[0])) + "\n", ErrTampered},
		"a space after the footer":   {content + " ", ErrTampered},
		"a footer of capitals":       {replace(`"steps"`, `"Steps"`), ErrMalformed},
		"the header twice":           {content[:strings.Index(content, "\n")+1] + content, ErrMalformed},
		"no header":                  {content[strings.Index(content, "\n")+1:], ErrMalformed},
		"nothing":                    {"", ErrTruncated},
		"an unknown kind":            {replace(`"pages.reserved"`, `"pages.borrowed"`), ErrMalformed},
		"an unknown field":           {replace(`"room":3`, `"room":3,"colour":1`), ErrMalformed},
		"an unknown header field":    {replace(`"target"`, `"colour":1,"target"`), ErrMalformed},
		"a header field twice":       {replace(`"target"`, `"target":"x","target"`), ErrMalformed},
		"a header field in capitals": {replace(`"target"`, `"Target"`), ErrMalformed},
		"an empty line":              {replace("\n", "\n\n"), ErrMalformed},
		"a blank line end":           {replace("\n", " \n"), ErrMalformed},
		"a newer schema":             {replace(`"schema":1`, `"schema":2,"novelty":true`), ErrSchema},
		"no schema":                  {replace(`"schema":1,`, ``), ErrSchema},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, _, _, err := read(repack(t, test.content))
			g.Expect(err).To(MatchError(test.want))
		})
	}
}

// What a forger can still do is rewrite the hash too: such a journal reads, unless a line is none. The hash is no
// signature.
func TestRehashedContent(t *testing.T) {
	g := NewWithT(t)
	content := unpack(t, written(t, []event.Event{{Kind: event.ResponseReceived, Status: 200}}, Options{}))
	_, got, _, err := read(rehashed(t, strings.Replace(content, "200", "503", 1)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got[0].Status).To(Equal(503))

	_, _, _, err = read(rehashed(t, strings.Replace(content, `"status":200`, `"state":200`, 1)))
	g.Expect(err).To(MatchError(ErrMalformed))
	forged := Footer{Events: 7, Steps: 31, Tick: 99}
	body := content[:strings.LastIndex(content, closedLine)]
	_, _, _, err = read(repack(t, body+string(appendFooter(nil, forged, newHash(body)))))
	g.Expect(err).To(MatchError(ContainSubstring("holds 1 events, its footer says 7")))
}
