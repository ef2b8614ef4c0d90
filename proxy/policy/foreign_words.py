"""Words of other languages than English for people, and for what names them, without accents.

German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Danish and Norwegian.
"""

from __future__ import annotations

FOREIGN_PEOPLE = {
    **dict.fromkeys(
        ("kunde", "kunden", "kundin", "klant", "klanten", "kund", "kunder", "klientin"), "customer"
    ),
    **dict.fromkeys(("cliente", "clientes", "clienti", "klient", "klienten", "klienci"), "client"),
    **dict.fromkeys(
        ("patienten", "patientin", "patientinnen", "paciente", "pacientes", "paziente"), "patient"
    ),
    **dict.fromkeys(("pazienti", "pacjent", "pacjenci", "patienter"), "patient"),
    **dict.fromkeys(
        ("personen", "personne", "persona", "personas", "persone", "pessoa", "pessoas"), "person"
    ),
    **dict.fromkeys(("osoba", "osoby", "personer", "persoon"), "person"),
    **dict.fromkeys(
        ("benutzer", "nutzer", "anwender", "utilisateur", "usuario", "utente", "utenti"), "user"
    ),
    **dict.fromkeys(("gebruiker", "gebruikers", "uzytkownik", "anvandare", "bruker"), "user"),
    **dict.fromkeys(
        ("mitarbeiter", "mitarbeiterin", "angestellte", "personal", "employe", "salarie"),
        "employee",
    ),
    **dict.fromkeys(("empleado", "funcionario", "dipendente", "dipendenti"), "employee"),
    **dict.fromkeys(
        ("medewerker", "medewerkers", "werknemer", "pracownik", "ansatt", "anstalld"), "employee"
    ),
    **dict.fromkeys(("mitglied", "mitglieder", "membre", "miembro", "membro", "lid"), "member"),
    **dict.fromkeys(("leden", "medlem", "medlemmer", "medlemmar"), "member"),
    **dict.fromkeys(
        ("schuler", "schueler", "eleve", "alumno", "aluno", "alunno", "leerling"), "pupil"
    ),
    **dict.fromkeys(("studenten", "etudiant", "estudiante", "studente", "studenti"), "student"),
    **dict.fromkeys(("einwohner", "habitant", "habitante", "abitante", "inwoner"), "resident"),
    **dict.fromkeys(("burger", "buerger", "citoyen", "ciudadano", "cittadino"), "citizen"),
    **dict.fromkeys(
        ("versicherte", "versicherter", "assure", "asegurado", "verzekerde"), "insured"
    ),
    **dict.fromkeys(("arzt", "arzte", "aerzte", "medecin", "medico", "medici", "lekarz"), "doctor"),
    **dict.fromkeys(("lehrer", "enseignant", "profesor", "insegnante", "leraar"), "teacher"),
    **dict.fromkeys(("fahrer", "conducteur", "conductor", "chauffeur"), "driver"),
    **dict.fromkeys(("bewohner", "mieter", "locataire", "inquilino", "huurder"), "tenant"),
    **dict.fromkeys(("gast", "gaste", "gaeste"), "guest"),
    **dict.fromkeys(("fahrgast", "fahrgaste", "fahrgaeste"), "passenger"),
    **dict.fromkeys(("wahler", "waehler"), "voter"),
    **dict.fromkeys(("spieler",), "player"),
    **dict.fromkeys(("schuldner",), "debtor"),
    **dict.fromkeys(("leute", "gens"), "person"),
    **dict.fromkeys(("leser",), "patron"),
    **dict.fromkeys(("kontakt", "kontakte", "contacto", "contatto"), "contact"),
    **dict.fromkeys(("teilnehmer", "participante", "deelnemer"), "participant"),
    **dict.fromkeys(("konto", "konten", "compte", "cuenta"), "account"),
}
FOREIGN_IDS = ("nummer", "numero", "nro", "numer", "kennung", "kod", "codigo", "codice")
FOREIGN_STRONG = {
    *("vorname", "nachname", "familienname", "geburtsdatum", "geburtstag", "geburt", "geboren"),
    *("geburtsname", "telefon", "handy", "kennwort", "passwort", "rufname", "mobil"),
    *("prenom", "nomdefamille", "naissance", "courriel", "telephone", "motdepasse"),
    *("apellido", "apellidos", "nacimiento", "telefono", "correo", "contrasena", "movil"),
    *("sobrenome", "apelido", "nascimento", "telefone", "celular", "senha"),
    *("cognome", "nascita", "cellulare", "voornaam", "achternaam", "geboortedatum", "geboorte"),
    *("telefoon", "wachtwoord", "imie", "nazwisko", "urodzenia", "haslo", "komorka"),
    *("fornamn", "efternamn", "fornavn", "etternavn", "efternavn", "fodselsdato", "fodelsedatum"),
    *("losenord", "adgangskode", "fodt", "fodd"),
}
FOREIGN_IDENTIFYING = FOREIGN_STRONG - {"geburt", "geboren", "fodt", "fodd"} | {
    *("adresse", "anschrift", "strasse", "hausnummer", "unterschrift", "steuernummer", "steuerid"),
    *("sozialversicherungsnummer", "svnr", "ausweis", "ausweisnummer", "reisepass", "ahv"),
    *("rue", "signature", "nir", "numerosecu", "direccion", "calle", "dni", "nif", "curp", "cpf"),
    *("endereco", "indirizzo", "codicefiscale", "adres", "straat", "bsn", "pesel", "ulica"),
    *("adress", "gata", "personnummer", "cpr", "fodselsnummer", "foto", "bild"),
}
FOREIGN_PERSONAL = {
    *("alter", "geschlecht", "religion", "staatsangehorigkeit", "gehalt", "einkommen", "beruf"),
    *("diagnose", "familienstand", "sexe", "nationalite", "salaire", "revenu", "metier"),
    *("edad", "sexo", "genero", "salario", "ingresos", "profesion", "idade", "renda"),
    *("eta", "sesso", "stipendio", "reddito", "leeftijd", "geslacht", "salaris", "inkomen"),
    *("wiek", "plec", "alder", "kjonn", "kon", "lonn", "lon"),
}
FOREIGN_TEXTS = {
    *("kommentar", "kommentare", "bemerkung", "bemerkungen", "anmerkung", "anmerkungen", "notiz"),
    *("notizen", "nachricht", "freitext", "beschwerde", "hinweis", "rueckmeldung", "ruckmeldung"),
    *("commentaire", "commentaires", "remarque", "remarques", "observation", "observations"),
    *("comentario", "comentarios", "observacion", "observaciones", "mensaje", "nota", "notas"),
    *("mensagem", "observacao", "commento", "commenti", "osservazioni", "messaggio"),
    *("opmerking", "opmerkingen", "bericht", "uwagi", "komentarz", "anteckning", "bemaerkning"),
}
