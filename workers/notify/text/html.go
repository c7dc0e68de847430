package text

import (
	"html/template"
	"strings"
)

// page is the message for mail programs. The first line keeps programs from making links of
// numbers and places.
var page = template.Must(template.New("mail").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no"><title>{{.Subject}}</title></head>
<body style="font-family: sans-serif; line-height: 1.5">
<p>{{.Lead}}</p>
{{if .Facts}}<table style="border-collapse: collapse">{{range .Facts}}
<tr><th scope="row" style="text-align: left; vertical-align: top; padding: 0 1em 0 0; font-weight: normal; opacity: 0.75">{{.Label}}</th><td style="overflow-wrap: anywhere"><bdi>{{.Value}}</bdi></td></tr>{{end}}
</table>{{end}}
{{if .Link}}<p><a href="{{.URL}}">{{.Link}}</a></p>{{end}}
{{if .SettingsURL}}<p style="font-size: 0.85em"><a href="{{.SettingsURL}}">Notification settings</a></p>{{end}}
</body></html>
`))

// HTML is the message as a page of its own.
func (m Message) HTML() (string, error) {
	var b strings.Builder
	err := page.Execute(&b, m)
	return b.String(), err
}
