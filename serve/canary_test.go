package serve_test

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// exchange makes a request and gives all of the answer as text.
func (r *running) exchange(method, target, body string, alterations ...func(*http.Request)) string {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+target, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, alter := range alterations {
		alter(request)
	}
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	if err := response.Write(&text); err != nil {
		r.t.Fatal(err)
	}
	return text.String()
}

// secretsIn returns those of the secrets that a text has in it, however spelt.
func secretsIn(text string, secrets map[string]string) (found []string) {
	text = strings.ToLower(text)
	for name, secret := range secrets {
		for _, spelling := range []string{
			secret,
			strings.ReplaceAll(secret, "-", ""),
			strings.ReplaceAll(secret, " ", "+"),
			strings.ReplaceAll(secret, " ", "%20"),
			base64.StdEncoding.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte("admin:" + secret)),
		} {
			if strings.Contains(text, strings.ToLower(spelling)) {
				found = append(found, name)
				break
			}
		}
	}
	return found
}

// TestSecretsStaySecret makes calls of all kinds, good and bad, with the token
// and the password in all places, and looks for them in everything the server
// wrote: answers, log, banner, and all that it stored.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	r := runServer(t, adminPassword)
	created := r.exchange("POST", "/api/v3/command/webhook.put?eventKey=webhook.canary&payloadType=raw&maxPayloadLength=500", "", asAdmin)
	token := regexp.MustCompile(`"uuid":"([^"]+)"`).FindStringSubmatch(created)[1]
	secrets := map[string]string{"token": token, "password": adminPassword}
	if found := secretsIn(created, secrets); len(found) != 1 {
		t.Fatalf("the search for secrets finds %q in what webhook.put answers, want the token", found)
	}

	answers := r.goodCalls(token)
	answers = append(answers, r.badCalls(token)...)
	answers = append(answers, r.malformedRequests(token)...)
	for _, query := range []string{"limit=1000", "status=rejected", "traceId=" + token[len(token)-6:]} {
		found := r.exchange("GET", "/api/v3/command/trace.get?"+query, "", asAdmin)
		if !strings.Contains(found, `"traceId"`) {
			t.Errorf("%s finds no calls: %s", query, found)
		}
		answers = append(answers, found)
	}
	for _, text := range answers {
		if found := secretsIn(text, secrets); found != nil {
			t.Errorf("an answer has the %q in it:\n%s", found, text)
		}
	}
	r.stop()
	if found := secretsIn(r.banner.String(), secrets); found != nil {
		t.Errorf("the banner has the %q in it:\n%s", found, r.banner)
	}
	for line := range strings.Lines(r.log.String()) {
		if found := secretsIn(line, secrets); found != nil {
			t.Errorf("a line of the log has the %q in it: %s", found, line)
		}
	}
	if !strings.Contains(r.log.String(), token[len(token)-6:]) {
		t.Error("the log doesn't have the last 6 characters of the token, by which calls are found")
	}
	messages := r.messages()
	if accepted := len(messages["EVENTS"]); accepted < 10 {
		t.Errorf("only %d calls were accepted", accepted)
	}
	if len(messages["JOURNAL"]) == 0 || len(messages["LOOSE"]) == 0 {
		t.Error("the journal has no calls")
	}
	for stream, list := range messages {
		for _, message := range list {
			found := secretsIn(message.subject+" "+string(message.data), secrets)
			if found != nil {
				t.Errorf("a message of %s has the %q in it: %s %s", stream, found, message.subject, message.data)
			}
		}
	}
}

// goodCalls has the token in each place it may be.
func (r *running) goodCalls(token string) (answers []string) {
	r.t.Helper()
	inHeader := header("Token", token)
	content := func(media string) func(*http.Request) { return header("Content-Type", media) }
	answers = append(answers,
		r.exchange("GET", receivePath+"?token="+token, ""),
		r.exchange("GET", receivePath+"?uuid="+strings.ToUpper(token), ""),
		r.exchange("POST", receivePath, "hi", inHeader),
		r.exchange("POST", receivePath, "hi", header("Uuid", token)),
		r.exchange("POST", receivePath, "hi", inHeader, header("Referer", r.url+receivePath+"?token="+token), header("X-Original-URI", receivePath+"?a=1&token="+token)),
		r.exchange("POST", receivePath, "hi", inHeader, asAdmin, header("Cookie", "token="+token), header("Proxy-Authorization", basic("admin", adminPassword))),
		r.exchange("POST", receivePath+"?token="+token+"&uuid="+token, "hi", inHeader),
		r.exchange("POST", receivePath, "a=1&token="+token, content(form)),
		r.exchange("POST", receivePath, `{"a":1,"token":"`+token+`"}`, content("application/json")),
		r.exchange("POST", receivePath, part(`name="token"`, token)+filePart("hi")+end, content(upload)),
		r.exchange("GET", receivePath+"?pollingRedirectEnabled=true&token="+token, ""),
		r.exchange("GET", "/openapi.json", ""),
		r.exchange("GET", "/readyz", "", asAdmin),
	)
	for _, a := range answers {
		if !strings.HasPrefix(a, "HTTP/1.1 200") && !strings.HasPrefix(a, "HTTP/1.1 302") {
			r.t.Errorf("a good call was answered %s", a)
		}
	}
	return answers
}

// badCalls has the token in calls that are refused for all sorts of reasons.
func (r *running) badCalls(token string) []string {
	r.t.Helper()
	inHeader, asJSON := header("Token", token), header("Content-Type", "application/json")
	command := "/api/v3/command/"
	return []string{
		r.exchange("POST", receivePath, strings.Repeat("x", 501), inHeader),
		r.exchange("POST", receivePath, `{"token":"`+token+`","a":"`+strings.Repeat("x", 501)+`"}`, asJSON),
		r.exchange("GET", receivePath+"?token="+token+"&token="+token, ""),
		r.exchange("GET", receivePath+"?token="+token, "", header("Token", unknownToken)),
		r.exchange("POST", receivePath, `{"token":"`+token+`","token":"`+token+`"}`, asJSON),
		r.exchange("POST", receivePath, `{"token":"`+token+`"`, asJSON),
		r.exchange("GET", receivePath+"?token="+token+"x", ""),
		r.exchange("GET", receivePath+"?token="+token+"&a=%zz", ""),
		r.exchange("GET", receivePath+"?token="+token+"&pollingRedirectEnabled="+token, ""),
		r.exchange("PUT", receivePath+"?token="+token, ""),
		r.exchange("POST", receivePath, part(`name="token"`, token), header("Content-Type", upload)),
		r.exchange("GET", "/"+token, ""),
		r.exchange("GET", receivePath+"/"+token, ""),
		r.exchange("GET", receivePath+"//"+token, ""),
		r.exchange("GET", command+"webhook.recieve?token="+token, ""),
		r.exchange("GET", command+"webhook.recieve?token="+token, "", asAdmin),
		r.exchange("GET", command+"webhook."+token, "", asAdmin),
		r.exchange("GET", resultPath+"?svc-result-correlationid="+token, ""),
		r.exchange("GET", resultPath+"?token="+token, ""),
		r.exchange("GET", command+"webhook.get?token="+token, "", header("Authorization", "Bearer "+token)),
		r.exchange("GET", command+"webhook.get", "", header("Authorization", basic(adminPassword, "x"))),
		r.exchange("GET", command+"webhook.get", "", header("Authorization", basic("admin", adminPassword)+"x")),
		r.exchange("GET", command+"webhook.get", "", header("Authorization", "Basic "+adminPassword)),
		r.exchange("GET", command+"webhook.get", "", asAdmin, asAdmin, header("Authorization", basic("admin", adminPassword))),
		r.exchange("POST", command+"webhook.put", `{"uuid":"`+token+`","eventKey":"a..b"}`, asAdmin, asJSON),
		r.exchange("POST", command+"webhook.put", `{"uuid":["`+token+`"]}`, asAdmin, asJSON),
		r.exchange("POST", command+"webhook.put", `{"uuid":"`+token+`","uuid":"`+token+`"}`, asAdmin, asJSON),
		r.exchange("POST", command+"webhook.put?uuid="+token, `{"uuid":"`+unknownToken+`"}`, asAdmin, asJSON),
		r.exchange("POST", command+"webhook.put?payloadType="+token, "", asAdmin),
		r.exchange("POST", command+"webhook.put?maxPayloadLength="+token, "", asAdmin),
		r.exchange("POST", command+"webhook.delete?uuid="+token+"x", "", asAdmin),
		r.exchange("POST", command+"webhook.get?uuid="+token+"x", "", asAdmin),
		r.exchange("POST", command+"webhook.put", token, asAdmin, asJSON),
		r.exchange("POST", command+"webhook.put", token, asAdmin, header("Content-Type", token)),
	}
}

// malformedRequests has the token in bytes that are no proper HTTP.
func (r *running) malformedRequests(token string) (answers []string) {
	r.t.Helper()
	host := "Host: sluice"
	for _, bytes := range []string{
		request("GET "+receivePath+"?token="+token+" HTTP/9.9", host),
		request("GET "+receivePath+"?token="+token+" HTTP/1.1", host, host),
		request("GET "+receivePath+"?token="+token+" HTTP/1.1", "Host: "+token+"/ "+token),
		request("GET "+receivePath+"?token="+token+"% HTTP/1.1", host, "Connection: close"),
		request("GET %"+token+" HTTP/1.1", host),
		request("GET "+receivePath+" HTTP/1.1", host, "Token : "+token),
		request("GET "+receivePath+" HTTP/1.1", host, token),
		request("GET "+receivePath+" HTTP/1.1", host, token+"\x00: x"),
		request("GET "+receivePath+" HTTP/1.1", host, "Transfer-Encoding: "+token),
		request("GET "+receivePath+" HTTP/1.1", host, "Content-Length: "+token),
		request("GET "+receivePath+" HTTP/1.1", host, "Expect: "+token),
		request("POST "+receivePath+" HTTP/1.1", host, "Token: "+token, "Transfer-Encoding: chunked") + token + "\r\n",
		request(token),
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			r.t.Fatal(err)
		}
		w := newWire(r.t, conn)
		w.say(bytes)
		answer, err := io.ReadAll(w.reader)
		if err != nil {
			r.t.Fatal(err)
		}
		answers = append(answers, string(answer))
	}
	return answers
}
